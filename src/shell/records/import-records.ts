import type { Change } from '../../change/change.ts';
import {
  accountRemarks,
  closeAccounts,
  type ClosedAccounts,
  foldedRemarks,
} from '../../change/closed-accounts.ts';
import type { ReadInFull, RequestedChanges } from '../../change/read-and-plan.ts';
import { allowHint } from '../../change/allow.ts';
import { NotPossibleError, type Plan } from '../../change/plan.ts';
import { matchRows } from '../../change/record-file/match-rows.ts';
import { readRecordFile } from '../../change/record-file/read-record-file.ts';
import { Problems, type RecordFile, type RecordRow } from '../../change/record-file/record-file.ts';
import { keyOfRow } from '../../change/record-file/csv-cell.ts';
import { ScopedRows } from '../../change/record-file/scopes.ts';
import { isResourceName, keyFieldOf } from '../../device/profile.ts';
import { type DeviceRecord, onlyFields, valueAt, valueText } from '../../device/record.ts';
import { digested } from '../../device/sensitive-fields.ts';
import { RefusedError, UsageError, unlessFailed } from '../../errors.ts';
import { listDoubt } from '../../fleet/absence.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import type { Call } from '../command.ts';
import type { CHANGE } from '../grammar/options.ts';
import { type Output, warning, info } from '../output.ts';
import { refuseReadOnly } from '../writing/consent.ts';
import { write, type WriteIntent } from '../writing/write.ts';
import { confirmOrRevert, refuseOpenAccounts } from '../writing/undo.ts';
import { checkScopes } from './baseline-file.ts';
import { counted, pluralOf, someOf } from '../../text/one-line.ts';
import { writePlanFile } from '../writing/change-files.ts';
import { textOf } from '../../output/sentences.ts';

type ImportCall = Call<
  (typeof CHANGE)[number] | 'prune' | 'key' | 'map' | 'output' | 'expiresMs' | 'confirmMs'
>;

/** `import FILE`: makes a plan from the file, and writes it like every plan. */
export async function* importRecords(call: ImportCall): AsyncGenerator<Output> {
  const { confirmMs, output } = call.options;
  if (output === undefined) refuseReadOnly(call);
  const path = call.args.required('FILE');
  const name = path === '-' ? 'standard input' : path;
  const text = await call.readText(path);
  const file = readRecordFile(text, name, renameOf(call.options.map));
  const resource = resourceOf(call, file);
  if (call.options.prune && file.filter !== undefined) {
    throw new UsageError(
      `${name} has only the ${pluralOf(resource)} that match "${file.filter}": --prune would delete all others`,
    );
  }
  const importing = planAndWrite(call, file, resource, digested(text));
  if (confirmMs === undefined || output !== undefined) yield* importing;
  else yield* confirmOrRevert(call, importing, confirmMs);
}

async function* planAndWrite(
  call: ImportCall,
  file: RecordFile,
  resource: string,
  input: string,
): AsyncGenerator<Output> {
  const { options } = call;
  const { rowsFor, sessions } = await assign(call, file);
  const problems = new Problems();
  const tally = { unchanged: 0, rows: 0, ignored: new Set<string>() };
  const { key, prune, allow } = options;
  const match = { isCells: file.isCells, key, prune, allow };
  const closed: { name: string; accounts: ClosedAccounts }[] = [];
  const changesFor = (session: DeviceSession): RequestedChanges => {
    const rowsBy = (keyField: string): readonly RecordRow[] =>
      rowsFor(session, (row) => keyOfRow(row, keyField, file.isCells));
    const changes = async (heldInFull: ReadInFull): Promise<readonly Change[]> => {
      const claimed = (listed: readonly DeviceRecord[]): readonly DeviceRecord[] => {
        const { idFields } = session.profile;
        const keyField = keyFieldOf(session.profile, resource, listed);
        return rowsBy(key ?? keyField)
          .map(({ fields }) => onlyFields(fields, [keyField, ...idFields]))
          .filter((image) => idFields.some((field) => valueText(image[field]) !== ''));
      };
      const records = await heldInFull(resource, { claimed });
      // Not every device describes its types and limits, so a failure does not matter.
      await unlessFailed(session.learn(call.access, resource, 'once', call.io.signal));
      const { profile, ref } = session;
      const doubt = prune ? await listDoubt(session, resource, records.length) : undefined;
      if (doubt !== undefined && !allow.has('prune')) {
        const what = `a record that --prune concerns may be ${textOf(doubt)}, or ${allowHint('prune')}`;
        throw new NotPossibleError(ref, 'not-known', what);
      }
      const held = { name: ref.name, profile, resource, records };
      const rows = rowsBy(key ?? keyFieldOf(profile, resource, records));
      const matched = matchRows(held, rows, match, problems);
      tally.unchanged += matched.unchanged;
      tally.rows += rows.length;
      for (const field of matched.ignored) tally.ignored.add(field);
      if (!prune || allow.has('loss')) return matched.changes;
      const accounts = closeAccounts(matched.changes, profile, records);
      closed.push({ name: ref.name, accounts });
      return accounts.changes;
    };
    const about = rowsBy(key ?? 'username').map(
      (row) => ({ action: 'set', resource, key: nameOf(row, key) }) as const,
    );
    return { changes, about };
  };
  const review: WriteIntent['review'] = async function* (plan) {
    problems.throwAny();
    await refuseOpenAccounts(call, closed);
    const losses = foldedRemarks(
      closed.flatMap(({ name, accounts }) => accountRemarks(name, accounts)),
    );
    for (const text of losses) yield warning(text);
    yield* remarks(file, tally, plan);
    if (options.output === undefined) {
      return { plan: { ...plan, input }, details: losses, needsChange: true };
    }
    yield { kind: 'plan', plan, dryRun: true };
    yield await writePlanFile(call, plan, options.output, []);
    return undefined;
  };
  const accounts = 'this line';
  yield* write(call, { sessions, wanted: changesFor, age: 'older', accounts, review });
}

function* remarks(
  { missing, name }: RecordFile,
  { unchanged, rows, ignored }: { unchanged: number; rows: number; ignored: ReadonlySet<string> },
  { devices }: Plan,
): Generator<Output> {
  if (ignored.size > 0) {
    const fields = [...ignored].join(', ');
    yield info(`ignored in the file, because the devices set them: ${fields}`);
  }
  if (missing.length > 0) {
    yield warning(`left out, because ${name} was exported without them: ${missing.join(', ')}`);
  }
  const count = unchanged === rows ? `all ${rows}` : `${unchanged} of ${rows}`;
  const isWhole = devices.every(({ error }) => error === undefined);
  const text = `${count} records are unchanged${isWhole ? '' : ' on the devices that were read'}`;
  if (unchanged > 0) yield info(text);
}

/** `--map COLUMN=FIELD`, or `COLUMN=` for one that is left out. */
function renameOf(maps: readonly string[]): (name: string) => string | undefined {
  const names = new Map(
    maps.map((map): [string, string] => {
      const at = map.indexOf('=');
      if (at < 1) throw new UsageError(`--map "${map}": write it as COLUMN=FIELD`);
      return [map.slice(0, at), map.slice(at + 1)];
    }),
  );
  return (name) => {
    const field = names.get(name) ?? name;
    return field === '' ? undefined : field;
  };
}

function resourceOf(call: Call, { resource: told, name }: RecordFile): string {
  const said = call.args.optional('RESOURCE');
  if (said !== undefined && told !== undefined && said !== told) {
    throw new UsageError(`${name} contains ${pluralOf(told)}, not ${pluralOf(said)}`);
  }
  const resource = said ?? told ?? 'user';
  if (isResourceName(resource)) return resource;
  throw new UsageError(`"${resource}" is not the name of a resource`);
}

/**
 * The rows of each device: those that name it in the column DEVICE, and those that name none. If no device is
 * selected, the devices are those of the file.
 */
async function assign(call: ImportCall, file: RecordFile) {
  const scoped = new ScopedRows(file.rows);
  await checkScopes(call, file, scoped);
  const named = scoped.scopes.flatMap(({ scope }) => (scope.rank === 3 ? scope.names : []));
  const isForAll =
    file.rows.some(({ device }) => device === undefined) ||
    scoped.scopes.some(({ scope }) => scope.rank < 3);
  const hasSelection = call.options.on.length > 0 || call.shell.fleet.selection.length > 0;
  const selected =
    hasSelection || isForAll || named.length === 0
      ? await call.sessions()
      : await call.resolveKnown(named.map(asSelector), file.name);
  const others = named.filter(
    (device) => !selected.some(({ ref }) => ref.name === device || ref.address === device),
  );
  if (others.length > 0) await askToLeaveOut(call, file, others, selected);
  const rowsFor = ({ entry }: DeviceSession, keyOf: (row: RecordRow) => string) =>
    scoped.of(entry, keyOf);
  const isConcerned = (session: DeviceSession): boolean =>
    !file.missing.includes(session.ref.name) && rowsFor(session, () => '').length > 0;
  return { rowsFor, sessions: selected.filter(isConcerned) };
}

/** Throws a `UsageError` for a cell that is a pattern or option, not the name of a device. */
function asSelector(device: string): string {
  if (/^[\w.:[\]-]+$/.test(device) && !device.startsWith('-')) return device;
  throw new UsageError(`"${device}" in the column DEVICE is not the name of a device`);
}

async function askToLeaveOut(
  call: ImportCall,
  { name, rows }: RecordFile,
  others: readonly string[],
  selected: readonly DeviceSession[],
): Promise<void> {
  const left = rows.filter(({ device }) => device !== undefined && others.includes(device));
  const here = selected.map(({ ref }) => ref.name);
  const is = others.length === 1 ? 'is' : 'are';
  const what = `${name} has records for ${someOf(others, 10)}, which ${is} not selected (${someOf(here, 10)})`;
  const records = counted(left.length, 'record');
  const answer = call.options.yes
    ? undefined
    : await call.io.ask?.({
        kind: 'confirm',
        text: `${what}. Type y to leave out ${records}:`,
        expected: 'y',
      });
  if (answer === 'y') return;
  throw new RefusedError(
    `${what}: name all devices with --on, or remove these ${records} from the file; nothing was sent`,
  );
}

/** The name of a row in messages, if no device tells which field is the key. */
function nameOf({ fields }: RecordRow, key = 'username'): string {
  return valueText(valueAt(fields, key) ?? valueAt(fields, 'name') ?? Object.values(fields)[0]);
}
