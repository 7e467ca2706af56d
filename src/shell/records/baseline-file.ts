import { baselineOf, readBaseline } from '../../change/record-file/baseline.ts';
import {
  Problems,
  type RecordFile,
  type RecordFormat,
} from '../../change/record-file/record-file.ts';
import { scopeOf, type ScopedRows } from '../../change/record-file/scopes.ts';
import { isSingle, keyFieldOf } from '../../device/profile.ts';
import { valueText } from '../../device/record.ts';
import { RefusedError, UsageError } from '../../errors.ts';
import { perDeviceFields } from '../../fleet/compared.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import { aOrAn, oneLine, pluralOf, someOf } from '../../text/one-line.ts';
import { suggest } from '../../text/suggest.ts';
import type { Call } from '../command.ts';
import type { ReadOutput } from '../output.ts';

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
