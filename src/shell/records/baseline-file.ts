import { stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { baselineOf, readBaseline, unexpectedNote } from '../../change/record-file/baseline.ts';
import { keyOfRow } from '../../change/record-file/csv-cell.ts';
import {
  Problems,
  type RecordFile,
  type RecordFormat,
} from '../../change/record-file/record-file.ts';
import { type NamedDevice, ScopedRows, scopeOf } from '../../change/record-file/scopes.ts';
import { isSingle, keyFieldOf } from '../../device/profile.ts';
import { valueText } from '../../device/record.ts';
import { DevshError, RefusedError, UsageError } from '../../errors.ts';
import { perDeviceFields } from '../../fleet/compared.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import { readUserFile } from '../../os/user-file.ts';
import { aOrAn, oneLine, pluralOf, someOf } from '../../text/one-line.ts';
import { suggest } from '../../text/suggest.ts';
import type { Call } from '../command.ts';
import type { ReadOutput } from '../output.ts';
import type { Services } from '../services.ts';

/** The file of the setting `baseline`; a relative path counts from the folder of the settings. */
export function configuredBaseline({ settings, paths }: Services): string | undefined {
  const path = settings.get('baseline');
  return path === undefined ? undefined : resolve(paths.config, path);
}

/** The expected records of a file, which must be for `resource` if given. */
export function baselineFor(resource: string | undefined, text: string, name: string): RecordFile {
  const file = readBaseline(text, name);
  if (file.resource !== undefined && resource !== undefined && file.resource !== resource) {
    throw new UsageError(`${name} contains ${pluralOf(file.resource)}, not ${pluralOf(resource)}`);
  }
  if (file.filter !== undefined) {
    throw new UsageError(
      `${name} has only the ${pluralOf(file.resource ?? 'record')} that match "${file.filter}": each other one would be unexpected; export without a filter`,
    );
  }
  return file;
}

/** What was read as a baseline: each part as if it were a device. Throws a `RefusedError` if a file cannot state it. */
export async function baselineReads(
  { shell }: Call,
  reads: readonly ReadOutput[],
  sessions: readonly DeviceSession[],
  format: RecordFormat,
): Promise<ReadOutput[]> {
  const unread = reads.flatMap(({ device, outcome }) => (outcome.ok ? [] : [device.name]));
  if (unread.length > 0) {
    throw new RefusedError(
      `a baseline of a part would say too much: ${someOf(unread)} could not be read; name the others with --on; nothing was written`,
    );
  }
  const found = sessions.flatMap((session, position) => {
    const read = reads.find((one) => one.position === position);
    return read?.outcome.ok ? [{ session, view: read.view, records: read.outcome.records }] : [];
  });
  const [first] = found;
  if (first === undefined) return [];
  const { view } = first;
  const { resource } = view;
  const records = found.flatMap((one) => one.records);
  const keyField = keyFieldOf(first.session.profile, resource, records);
  for (const { session, records: own } of found) {
    const [name] = duplicated(own.map((record) => valueText(record[keyField])));
    if (name === undefined || isSingle(session.profile, resource)) continue;
    const what =
      name === ''
        ? `${aOrAn(resource)} without ${keyField}`
        : `several ${pluralOf(resource)} ${name}`;
    throw new RefusedError(
      `${session.ref.name} has ${what}: a baseline tells records apart by ${keyField}; nothing was written`,
    );
  }
  const perDevice = new Set(
    found.flatMap(({ session }) => perDeviceFields(session.profile, resource)),
  );
  const { devices } = await shell.services.inventory.load();
  const groups = new Map<string, string[]>();
  for (const { name, groups: own } of devices)
    for (const group of own) groups.set(group, [...(groups.get(group) ?? []), name]);
  const known = found.map(({ session, records }) => ({ device: session.entry, records }));
  const parts = baselineOf(known, keyField, perDevice, groups);
  if (parts.length === 0)
    throw new RefusedError(`no device has ${aOrAn(resource)}; nothing was written`);
  const bare = known
    .filter(({ device }) => !parts.some(({ scope }) => scopeOf(scope).has(device)))
    .map(({ device }) => device.name);
  if (bare.length > 0 && (format === 'csv' || format === 'jsonl')) {
    throw new RefusedError(
      `${someOf(bare)}: no ${pluralOf(resource)}, and ${format} cannot state that; write a file .yaml; nothing was written`,
    );
  }
  const fields = new Set(parts.flatMap((part) => part.records.flatMap(Object.keys)));
  const columns = [keyField, ...[...fields].filter((field) => field !== keyField).sort()];
  return [...parts, ...bare.map((scope) => ({ scope, records: [] }))].map((part, position) => ({
    kind: 'read',
    view: { ...view, columns },
    device: { name: part.scope, address: '' },
    position,
    outcome: { ok: true, records: part.records },
  }));
}

/** Texts that occur again, and the empty text. */
function duplicated(texts: readonly string[]): string[] {
  const seen = new Set(['']);
  return texts.filter((text) => seen.size === seen.add(text).size);
}

/** Throws a `UsageError` with the line of each group that the inventory does not have. */
export async function checkScopes(
  { shell }: Call,
  { name }: RecordFile,
  { scopes }: ScopedRows,
): Promise<void> {
  if (scopes.every(({ scope }) => scope.rank === 3 && scope.groups.length === 0)) return;
  const inventory = await shell.services.inventory.load();
  const groups = inventory.groups();
  const known = new Set(groups.map((group) => group.toLowerCase()));
  const problems = new Problems();
  for (const { scope, row } of scopes) {
    for (const group of scope.groups.filter((one) => !known.has(one.toLowerCase()))) {
      const [near] = suggest(group, groups);
      const hint = near === undefined ? '' : `; did you mean @${near}?`;
      problems.add(() => row.place(), `no group "${oneLine(group)}" in the inventory${hint}`);
    }
  }
  problems.throwAny();
  const isAmbiguous =
    inventory.find('all') && scopes.some(({ row }) => /^all\b/i.test(row.device ?? ''));
  if (isAmbiguous === true) {
    throw new UsageError(`${name}: a device is called "all": write @all for all devices`);
  }
}

/** Which records the file of the setting `baseline` does not have. */
export interface UnexpectedRecords {
  readonly resource: string;
  /** Why a record is unexpected; undefined if the file has it, or has nothing for this device. */
  readonly reason: (device: string, keyField: string, key: string) => string | undefined;
}

/** Looks for a change of the file; resolves to undefined if nothing changed. Throws if it is no baseline. */
export function unexpectedReader(
  services: Services,
  deviceNamed: (name: string) => NamedDevice | undefined,
): () => Promise<{ unexpected: UnexpectedRecords | undefined } | undefined> {
  let seen: string | undefined;
  return async () => {
    const path = configuredBaseline(services);
    const facts = path === undefined ? undefined : await stat(path).catch(() => undefined);
    const version = [path, facts?.mtimeMs, facts?.size, facts?.ino].join();
    if (version === seen) return undefined;
    const isFirst = seen === undefined;
    seen = version;
    if (path === undefined) return isFirst ? undefined : { unexpected: undefined };
    const file = baselineFor(undefined, await readUserFile(path), basename(path));
    return { unexpected: unexpectedRecords(file, deviceNamed) };
  };
}

export function unexpectedRecords(
  file: RecordFile,
  deviceNamed: (name: string) => NamedDevice | undefined,
): UnexpectedRecords {
  const scoped = new ScopedRows(file.rows);
  const known = new Map<string, ReadonlySet<string>>();
  const keysOf = (name: string, keyField: string): ReadonlySet<string> => {
    const id = `${name}\n${keyField}`;
    const device = deviceNamed(name);
    const keyOf = (row: RecordFile['rows'][number]): string =>
      keyOfRow(row, keyField, file.isCells);
    const keys =
      known.get(id) ?? new Set(device === undefined ? [] : scoped.of(device, keyOf).map(keyOf));
    if (device !== undefined) known.set(id, keys);
    return keys;
  };
  const notes = new Map<string, string | undefined>();
  return {
    resource: file.resource ?? 'user',
    reason(device, keyField, key) {
      const keys = keysOf(device, keyField);
      if (keys.size === 0 || keys.has(key)) return undefined;
      const id = `${device}\n${key}`;
      const note = notes.has(id) ? notes.get(id) : unexpectedNote(key, keys);
      notes.set(id, note);
      return `not in ${file.name}${note === undefined ? '' : `, ${note}`}`;
    },
  };
}

export function unexpectedProblem(error: unknown): string {
  if (!(error instanceof DevshError)) throw error;
  return `the screen cannot mark unexpected records: ${error.message}`;
}
