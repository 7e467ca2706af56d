import type { Settings } from '../../settings/settings.ts';
import { documentedProfile } from '../../device/built-in-profiles.ts';
import { describedFields, isSingle, keyFieldOf } from '../../device/profile.ts';
import { type DeviceRecord, type DeviceRef, nestedValue, valueAt } from '../../device/record.ts';
import { unlessFailed, UsageError } from '../../errors.ts';
import { perDeviceFields } from '../../fleet/compared.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import {
  fieldsIn,
  type Filter,
  matches,
  parseFilter,
  parseFilterWords,
} from '../../fleet/filter.ts';
import type { FilterCheck } from '../../fleet/filter-check.ts';
import type { FleetRead, Refine } from '../../fleet/fleet.ts';
import { noRecord, pluralOf } from '../../text/one-line.ts';
import { nearHint } from '../../text/suggest.ts';
import { parseLine, quoteWord, type Word } from '../../text/words.ts';
import { selectionProfile } from '../arguments.ts';
import type { Call } from '../command.ts';
import type { Options } from '../grammar/options.ts';
import { awaiting, info, type MessageOutput, type Output, type View, warning } from '../output.ts';
import { textOf } from '../../output/sentences.ts';

const MAX_MISSING = 10;

/** Reads the selected devices; yields each as soon as it has responded. */
export async function* readRecords(
  call: Call<never, 'watchMs' | 'columns'>,
  view: View,
  filter: Filter | undefined,
  refine?: Refine,
): AsyncGenerator<Output> {
  const sessions = await call.sessions();
  const fields = new Set<string>();
  const perDevice = new Set(view.perDevice);
  const found: ReadList[] = [];
  const positions = new Map(sessions.map((session, index) => [session, index]));
  const reads = call.read(sessions, view.resource, {
    closes: call.io.isLast === true && call.options.watchMs === undefined,
    refine,
  });
  yield readProgress(view.resource, { awaited: new Set(sessions), total: sessions.length });
  for await (const one of reads) {
    const { ref: device, profile } = one.session;
    for (const record of one.ok ? one.records : []) for (const field in record) fields.add(field);
    for (const field of perDeviceFields(profile, view.resource)) perDevice.add(field);
    if (one.ok) found.push(one);
    const key = isSingle(profile, view.resource) ? '' : view.key;
    yield {
      kind: 'read',
      view: { ...view, key, perDevice: [...perDevice] },
      device,
      position: positions.get(one.session) ?? 0,
      total: one.total,
      outcome: one.ok ? { ok: true, records: matching(filter, one.records, device.name) } : one,
      omits: one.ok ? one.session.omittedIn(view.resource, one.records) : undefined,
      mayLack: one.ok && one.session.mayLack(view.resource),
    };
    yield readProgress(view.resource, one);
  }
  yield* missingColumns(view, fields, noRecord(unreadOf(sessions, found)));
  const sorted = sortedBy(view);
  // Only a filter or an order can be wrong.
  if (filter !== undefined || sorted.length > 0)
    yield* checkFilter(call, sessions, { ...view, filter, sorted, reads: found });
  yield* keepColumns(call, sessions, view.resource, fields);
}

export function readProgress(
  resource: string,
  { awaited, total }: Pick<FleetRead, 'awaited' | 'total'>,
): Output {
  return awaiting(`reading ${pluralOf(resource)}`, awaited, total);
}

export function matching(
  filter: Filter | undefined,
  records: readonly DeviceRecord[],
  device: string,
): readonly DeviceRecord[] {
  return filter === undefined
    ? records
    : records.filter((record) => matches(filter, record, device));
}

export function viewOf(
  call: Call<never, 'columns' | 'sort' | 'fold'>,
  resource: string,
  layout: View['layout'],
): View {
  const { fields, columns = fields, sort, fold = false } = call.options;
  return {
    resource,
    layout,
    key: keyFieldOf(selectionProfile(call.shell.fleet), resource),
    columns,
    sort,
    fold,
    perDevice: selectionProfile(call.shell.fleet).idFields,
  };
}

function* missingColumns(
  { columns = [] }: View,
  fields: ReadonlySet<string>,
  none: string,
): Generator<Output> {
  if (fields.size === 0 || isAuto(columns)) return;
  const missing = [...new Set(columns)].filter((field) => !fields.has(field) && field !== 'device');
  for (const field of missing.slice(0, MAX_MISSING)) {
    yield warning(`${none} has a field "${field}"${nearHint(field, fields)}`);
  }
  if (missing.length > MAX_MISSING) {
    yield warning(`${none} has ${missing.length - MAX_MISSING} more of the named fields`);
  }
}

export function sortedBy({ sort = [] }: Partial<Options<'sort'>>): string[] {
  return sort.map((name) => name.replace(/^-/, ''));
}

export type ReadList = Pick<Extract<FleetRead, { ok: true }>, 'session' | 'records'>;

export function unreadOf(
  sessions: readonly DeviceSession[],
  reads: readonly Pick<ReadList, 'session'>[],
): DeviceRef[] {
  const read = new Set(reads.map(({ session }) => session));
  return sessions.filter((one) => !read.has(one)).map(({ ref }) => ref);
}

/** The lists that were just read, with the filter and the further fields (`sorted`) of the line to check. */
interface Checked {
  readonly resource: string;
  readonly filter: Filter | undefined;
  readonly sorted: readonly string[];
  readonly reads: readonly ReadList[];
}

/** Calls `refuseDoubtful`. A device whose list may leave out a matching record counts as unread. */
export async function* checkFilter(
  call: Call,
  sessions: readonly DeviceSession[],
  { resource, filter, sorted, reads }: Checked,
): AsyncGenerator<Output, FilterCheck> {
  const { FilterCheck } = await import('../../fleet/filter-check.ts');
  const check = new FilterCheck(filter, sorted);
  for (const { session, records } of reads) {
    const { name } = session.ref;
    const found = matching(filter, records, name);
    check.add(records, found.length, describedFields(session.profile, resource), name);
  }
  const isNone = check.findsNone && check.doubt() === undefined;
  const read = isNone ? reads.map(({ session }) => session) : [];
  const doubted = yield* inDoubt(read, resource, `a ${resource} that matches`);
  yield* refuseDoubtful(call, check, [...unreadOf(sessions, reads), ...doubted]);
  return check;
}

/** Throws a `UsageError` for a filter that cannot be right, with the meant line; only warns if devices are `unread`. */
export async function* refuseDoubtful(
  call: Call,
  check: FilterCheck,
  unread: readonly DeviceRef[],
): AsyncGenerator<Output> {
  const device = check.findsNone ? await call.devicesInFilter() : undefined;
  const none = noRecord(unread);
  const verb = check.hasUnknownWord ? call.stray : undefined;
  const mistake = device?.message ?? check.doubt(none);
  const doubt = mistake ?? (verb && `${none} matches it, and ${verb.message}`);
  const remark = mistake === undefined ? check.unknownValue(none) : undefined;
  if (remark !== undefined) yield info(remark);
  if (doubt === undefined) return;
  if (unread.length > 0) {
    yield warning(doubt);
    return;
  }
  if (device !== undefined) throw device;
  if (mistake === undefined) throw new UsageError(doubt, verb);
  const words = parseLine(call.line).words.map(({ text }) => text);
  const meant = check.corrected(words);
  // Words that a shell would execute are put in quotes.
  const typed = meant
    .filter(Boolean)
    .map((text) => (/^[^'\s]*[|$(][^'\s]*$/.test(text) ? `'${text}'` : quoteWord(text)));
  const isCorrected = meant.join('\n') !== words.join('\n');
  throw new UsageError(doubt, { suggestions: isCorrected ? [typed.join(' ')] : [] });
}

/** The devices whose lists may leave out `what`; yields why. */
export async function* inDoubt(
  sessions: readonly DeviceSession[],
  resource: string,
  what: string,
): AsyncGenerator<Output, DeviceRef[]> {
  const { listDoubt } = await import('../../fleet/absence.ts');
  const { NotPossibleError } = await import('../../change/plan.ts');
  const found: DeviceRef[] = [];
  for (const session of sessions) {
    const { ref: device } = session;
    const doubt = await listDoubt(session, resource, session.cached(resource)?.length ?? 0);
    if (doubt === undefined) continue;
    const error = new NotPossibleError(device, 'not-known', `${what} may be ${textOf(doubt)}`);
    yield { kind: 'error', device, error };
    found.push(device);
  }
  return found;
}

export function fieldsAsked(
  { columns = [], sort = [] }: Partial<Options<'columns' | 'sort'>>,
  filter: Filter | undefined,
): string[] {
  const named = [...columns, ...sortedBy({ sort })];
  return [...named.filter((field) => field !== 'device'), ...(filter ? fieldsIn(filter) : [])];
}

/** Reads the full records if the list omits a requested field; else returns them unchanged. */
export async function withFields(
  call: Call,
  session: DeviceSession,
  resource: string,
  records: readonly DeviceRecord[],
  fields: readonly string[],
): Promise<readonly DeviceRecord[]> {
  const isListed = (field: string): boolean =>
    records.some((record) => nestedValue(record, field) !== undefined);
  if (fields.every(isListed)) return records;
  return session.inFull(call.access, resource, records, call.io.signal);
}

/** Whether the resource is a single object. If this is unknown, the first device that responds decides. */
export async function isSingleHere(call: Call, resource: string): Promise<boolean> {
  const sessions = await call.sessions();
  for (const session of sessions) {
    await session.ensureOpen(call.access);
    if (isSingle(session.profile, resource)) return true;
  }
  for (const session of sessions) {
    const records = await unlessFailed(session.list(call.access, resource, call.io.signal));
    if (records !== undefined) return isSingle(session.profile, resource);
  }
  // The next read reports the errors of the devices.
  return true;
}

/** The filter of the words of the line and of `--filter`: all must match. Only at a prompt it is fuzzy. */
export function filterOf(call: Call<never, 'filter'>, words: readonly Word[]): Filter | undefined {
  const typed = words.map(({ text, start }) => ({ text, column: start }));
  const { filter } = call.options;
  const isFuzzy = call.io.isPrompt === true;
  if (filter === undefined && typed.length === 0) return undefined;
  const { terms } = parseFilterWords(typed, { isFuzzy });
  if (filter === undefined) return { terms };
  try {
    return { terms: [...terms, ...parseFilter(filter, { isFuzzy }).terms] };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(`--filter: ${error.message}`, { column: call.args.columnOf('filter') });
  }
}

/** `--columns auto`: devsh chooses the columns by content again. */
const AUTO = 'auto';

/** Adds the kept columns on a screen only: the output for a program is the same on every machine. */
export function withKeptColumns(call: Call, sessions: readonly DeviceSession[], view: View): View {
  const { columns, ...others } = view;
  if (columns !== undefined) return isAuto(columns) ? others : view;
  const recalled = isOnScreen(call)
    ? storedColumns(call.shell.services.settings, profileName(sessions), view.resource)
    : undefined;
  return recalled === undefined ? view : { ...view, recalled };
}

/** Keeps the columns that a line at a prompt names, as far as records have them. Says so if they have changed. */
async function* keepColumns(
  call: Call<never, 'columns'>,
  sessions: readonly DeviceSession[],
  resource: string,
  fields: ReadonlySet<string>,
): AsyncGenerator<MessageOutput> {
  const { columns } = call.options;
  if (columns === undefined || !isOnScreen(call)) return;
  const isForgotten = isAuto(columns);
  // The columns of a single command, of a script line and of an alias apply to this one list.
  if (!isForgotten && (call.io.isPrompt !== true || call.isAlias)) return;
  const fitting = columns.filter((field) => fields.has(field));
  const { settings } = call.shell.services;
  const before = storedColumns(settings, profileName(sessions), resource);
  if (
    isForgotten ? before === undefined : fitting.length === 0 || before?.join() === fitting.join()
  )
    return;
  const kept = isForgotten ? undefined : fitting;
  await storeColumns(settings, profileName(sessions), resource, kept);
  yield info(
    isForgotten
      ? `${resource} list shows every field again`
      : `${resource} list shows these columns from now on; --columns auto shows all again`,
  );
}

/** The profile of the first device. Columns are kept by profile, because it decides what the fields are. */
function profileName([first]: readonly DeviceSession[]): string {
  return first?.entry.profile ?? 'documented';
}

function isOnScreen({ io, options }: Call): boolean {
  return io.isOnScreen === true && (options.format ?? 'table') === 'table';
}

function isAuto(columns: readonly string[]): boolean {
  return columns.length === 1 && columns[0] === AUTO;
}

/** The view before a line says otherwise. `recalled`: the columns of the last time. */
export function defaultView(resource: string, recalled?: readonly string[]): View {
  return {
    resource,
    layout: 'table',
    recalled,
    key: keyFieldOf(documentedProfile, resource),
    fold: true,
    perDevice: documentedProfile.idFields,
  };
}

/** The columns that the user chose, by profile and resource, across sessions; undefined if they are chosen by content. */
export function storedColumns(
  settings: Settings,
  profile: string,
  resource: string,
): readonly string[] | undefined {
  return valueAt(settings.get('columns'), `${profile}/${resource}`);
}

/** `undefined` forgets the columns. Throws SettingsError if the file cannot be written. */
export async function storeColumns(
  settings: Settings,
  profile: string,
  resource: string,
  columns: readonly string[] | undefined,
): Promise<void> {
  const name = `${profile}/${resource}`;
  await settings.change('columns', (all = {}) => {
    const others = Object.entries(all).filter(([other]) => other !== name);
    const kept = columns === undefined ? others : [...others, [name, columns] as const];
    return kept.length === 0 ? undefined : Object.fromEntries(kept);
  });
}
