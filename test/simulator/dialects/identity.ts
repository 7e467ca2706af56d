import type { DeviceRecord } from '../../../src/device/record.ts';
import type { StoredRecord } from './dialect-store.ts';
import type { ResourceTable } from './site.ts';
import { type Field, isRequired } from './resources.ts';

/** With the id of the dialect; a single object has none. */
export function shownRecord(
  { site, resource, table }: ResourceTable,
  { uuid, ...fields }: StoredRecord,
): DeviceRecord {
  const { id } = site.dialect.traits;
  if (resource.key === undefined || id === undefined) return fields;
  return id === 'uuid' ? { uuid, ...fields } : { id: table.numberOf(uuid), ...fields };
}

export function findRecord({ site, table }: ResourceTable, id: string): StoredRecord | undefined {
  if (site.dialect.traits.id === 'uuid') return table.get(id.toLowerCase());
  return table.records.find(({ uuid }) => String(table.numberOf(uuid)) === id);
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
