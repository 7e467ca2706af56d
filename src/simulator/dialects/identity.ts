import { createHash } from 'node:crypto';
import type { DeviceRecord, Value } from '../../device/record.ts';
import type { StoredRecord, Table } from '../store.ts';
import type { Site } from '../view.ts';
import type { Dialect } from './dialect.ts';
import { type Field, isRequired, tableOf } from './resources.ts';

/** The field with the id; undefined if records have none. */
export function idField({ traits, quirks }: Dialect): 'uuid' | 'id' | undefined {
  if (traits.id === 'none' || quirks.has('documents') || quirks.has('domains')) return undefined;
  return traits.id === 'number' || quirks.has('positional-ids') ? 'id' : 'uuid';
}

export function shownRecords(dialect: Dialect, table: Table): DeviceRecord[] {
  const shown = table.records.map((record, index) => shownAt(dialect, table, record, index));
  if (!dialect.quirks.has('counters')) return shown;
  const hits = table.countListing();
  return shown.map((record) => encoded(dialect, { ...record, hits }));
}

export function shownRecord(dialect: Dialect, table: Table, record: StoredRecord): DeviceRecord {
  const index = dialect.quirks.has('positional-ids') ? positionOf(table, record.uuid) : 0;
  return shownAt(dialect, table, record, index);
}

function shownAt(
  dialect: Dialect,
  table: Table,
  { uuid, ...fields }: StoredRecord,
  index: number,
): DeviceRecord {
  const number = dialect.quirks.has('positional-ids') ? index : table.numberOf(uuid);
  const field = idField(dialect);
  const id = field === undefined ? {} : { [field]: field === 'uuid' ? uuid : number };
  const version = `${table.versionOf(uuid)}-${uuid.slice(0, 8)}`;
  const revision = dialect.quirks.has('documents') && { _rev: version };
  return encoded(dialect, { ...id, ...shownFields(dialect, fields), ...revision });
}

function shownFields({ quirks }: Dialect, fields: DeviceRecord): DeviceRecord {
  if (quirks.has('password-hash') && typeof fields['password'] === 'string') {
    const hash = createHash('sha256').update(fields['password']).digest('base64url');
    return { ...fields, password: `$5$${hash}` };
  }
  const hidden = quirks.has('hidden-fields') ? ['email', 'password'] : [];
  // A record is below its domain.
  if (quirks.has('domains')) hidden.push('domain');
  if (hidden.length === 0) return fields;
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !hidden.includes(name)));
}

/** A single object, which has no id. */
export function shownObject(dialect: Dialect, record: StoredRecord): DeviceRecord {
  const fields = Object.entries(record).filter(([field]) => field !== 'uuid');
  return encoded(dialect, Object.fromEntries(fields));
}

/** All records of a resource; empty if the resource does not exist. */
export function recordsOf(site: Site, name: string): DeviceRecord[] {
  const { dialect } = site;
  const { resource, table } = tableOf(site, name) ?? {};
  if (resource === undefined || table === undefined) return [];
  return resource.key === undefined
    ? table.records.map((record) => shownObject(dialect, record))
    : shownRecords(dialect, table);
}

/** A record as it is sent: with the quirk `strings` all values are strings. */
function encoded({ quirks }: Dialect, record: DeviceRecord): DeviceRecord {
  if (!quirks.has('strings')) return record;
  return Object.fromEntries(
    Object.entries(record).map(([field, value]) => [field, withStrings(value)]),
  );
}

/** Finds a record by the id in a path or a body. */
export function findRecord(dialect: Dialect, table: Table, id: string): StoredRecord | undefined {
  if (idField(dialect) === 'uuid') return table.get(id.toLowerCase());
  if (!/^\d{1,15}$/.test(id)) return undefined;
  const number = Number(id);
  return dialect.quirks.has('positional-ids')
    ? table.records[number]
    : table.records.find(({ uuid }) => table.numberOf(uuid) === number);
}

function positionOf(table: Table, uuid: string): number {
  return table.records.findIndex((record) => record.uuid === uuid);
}

function withStrings(value: Value): Value {
  if (typeof value !== 'object') return String(value);
  if (value === null) return '';
  if (Array.isArray(value)) return (value as readonly Value[]).map(withStrings);
  return Object.fromEntries(
    Object.entries(value as DeviceRecord).map(([name, inner]) => [name, withStrings(inner)]),
  );
}

/** The description of fields in the response to OPTIONS, like in Django REST Framework. */
export function metadata(fields: readonly Field[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(fields.map((field) => [field.name, fieldMetadata(field)]));
}

function fieldMetadata(field: Field): Readonly<Record<string, unknown>> {
  const words = field.name.replaceAll('_', ' ');
  const description = {
    type: field.type,
    required: isRequired(field),
    read_only: field.readOnly === true,
    label: words.charAt(0).toUpperCase() + words.slice(1),
  };
  switch (field.type) {
    case 'string':
      return field.readOnly === true
        ? description
        : { ...description, max_length: field.maxLength };
    case 'choice':
      return {
        ...description,
        choices: field.choices.map(([value, displayName]) => ({
          value,
          display_name: displayName,
        })),
      };
    case 'integer':
      return { ...description, min_value: field.min, max_value: field.max };
    case 'list': {
      const child = { type: 'string', required: true, read_only: false };
      return { ...description, child: { ...child, max_length: field.maxLength } };
    }
    case 'nested object':
      return { ...description, children: metadata(field.children) };
    case 'boolean':
    case 'datetime':
      return description;
  }
}
