import {
  checkKnownFields,
  type Deviation,
  deviationsFrom,
} from '../../change/record-file/baseline.ts';
import { keyOfRow } from '../../change/record-file/csv-cell.ts';
import { Problems } from '../../change/record-file/record-file.ts';
import { ScopedRows, scopeOf } from '../../change/record-file/scopes.ts';
import {
  fieldFacts,
  idOf,
  isSingle,
  keyFieldOf,
  knownFields,
  resourceOf,
} from '../../device/profile.ts';
import {
  type DeviceRecord,
  isNested,
  isValueList,
  sorted,
  type Value,
  valueText,
} from '../../device/record.ts';
import { maskedValue } from '../../device/sensitive-fields.ts';
import { UsageError } from '../../errors.ts';
import { textOf } from '../../output/sentences.ts';
import { isCompared, isDated, perDeviceFields } from '../../fleet/compared.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import {
  devicesWithout,
  doubted,
  driftOf,
  type DriftRow,
  driftSummary,
} from '../../fleet/drift.ts';
import { type Filter, matches } from '../../fleet/filter.ts';
import type { FleetRead, Refine } from '../../fleet/fleet.ts';
import { sortBy } from '../../fleet/sort.ts';
import { counted, countsText, pluralOf, someOf } from '../../text/one-line.ts';
import type { Call } from '../command.ts';
import { type Given, type OptionKey, OPTIONS } from '../grammar/options.ts';
import { info, message, type Output, table, warning } from '../output.ts';
import { notReadRemarks } from '../../history/history.ts';
import { baselineFor, checkScopes } from './baseline-file.ts';
import {
  checkFilter,
  fieldsAsked,
  inDoubt,
  type ReadList,
  readProgress,
  sortedBy,
  unreadOf,
  withFields,
} from './read-records.ts';

/** Throws a UsageError that names the first of these options that the line has. */
export function refuseGiven(options: Given, keys: readonly OptionKey[], why: string): void {
  const key = keys.find((one) => options[one] !== undefined && options[one] !== false);
  const flag = OPTIONS.find((option) => option.key === key)?.flag;
  if (flag !== undefined) throw new UsageError(`${why}: leave out --${flag}`);
}

/** Reads all of these devices with the fields `asked`, and returns the lists in their order. Yields the failures. */
export async function* readAll(
  call: Call,
  sessions: readonly DeviceSession[],
  resource: string,
  { asked = [], closes = false }: { asked?: readonly string[]; closes?: boolean | undefined } = {},
): AsyncGenerator<Output, Extract<FleetRead, { ok: true }>[]> {
  const found = new Map<DeviceSession, Extract<FleetRead, { ok: true }>>();
  const refine: Refine = (session, records) => withFields(call, session, resource, records, asked);
  for await (const one of call.read(sessions, resource, { refine, closes })) {
    if (one.ok) found.set(one.session, one);
    else yield { kind: 'error', error: one.error, device: one.session.ref };
    yield readProgress(resource, one);
  }
  return sessions.flatMap((session) => found.get(session) ?? []);
}

/** Replaces the id in a reference by the key of its record, because ids differ between devices. An unknown id stays. */
function named(value: Value, keys: ReadonlyMap<string, string>, device: string): Value {
  if (isValueList(value)) return sorted(value.map((one) => named(one, keys, device)));
  const id = isNested(value) ? '' : valueText(value);
  return id === '' ? value : (keys.get(id) ?? `id ${id} of ${device}`);
}

/** Replaces the references in all records. Leaves out devices whose list of targets cannot be read; yields why. */
async function* withReferences(
  call: Call,
  resource: string,
  reads: readonly ReadList[],
): AsyncGenerator<Output, readonly ReadList[]> {
  const fields = reads.flatMap(({ session: { profile } }) =>
    Object.entries(resourceOf(profile, resource).fields),
  );
  const others = new Set(fields.flatMap(([, { refers }]) => refers ?? []));
  let known = reads;
  for (const other of others) {
    const sessions = known.map(({ session }) => session);
    const lists = yield* readAll(call, sessions, other);
    known = lists.flatMap(({ session, records: targets }) => {
      const { profile } = session;
      const keyField = keyFieldOf(profile, other, targets);
      const keys = new Map(
        targets.map((one) => [idOf(profile, one) ?? '', valueText(one[keyField])]),
      );
      const inNames = ([field, value]: [string, Value]): [string, Value] =>
        fieldFacts(profile, resource, field).refers === other
          ? [field, named(value, keys, session.ref.name)]
          : [field, value];
      const renamed = (record: DeviceRecord): DeviceRecord =>
        Object.fromEntries(Object.entries(record).map(inNames));
      const { records = [] } = known.find((read) => read.session === session) ?? {};
      return [{ session, records: records.map(renamed) }];
    });
  }
  return known;
}

/** Compares the records of all devices. If a record matches the filter on one device, it is compared on all. */
export async function* compareDevices(
  call: Call<'columns' | 'sort'>,
  resource: string,
  filter: Filter | undefined,
): AsyncGenerator<Output> {
  const sessions = await call.sessions();
  if (sessions.length < 2) {
    throw new UsageError(
      '--drift compares devices with each other: name two or more with --on, or connect to them',
    );
  }
  const { options } = call;
  const asked = fieldsAsked(options, filter);
  const listed = yield* readAll(call, sessions, resource, { asked });
  const reads = yield* withReferences(call, resource, listed);
  const [first] = reads.map(({ session }) => session);
  if (first === undefined) return;
  if (reads.length < 2) {
    yield warning(`only ${first.ref.name} responded: there is nothing to compare it with`);
    return;
  }
  const compared = reads.map(({ session, records }) => ({ device: session.ref, records }));
  const perDevice = [
    ...new Set(reads.flatMap(({ session }) => perDeviceFields(session.profile, resource))),
  ];
  const records = compared.flatMap((read) => read.records);
  const sorted = [...(options.columns ?? []), ...sortedBy(options)];
  const check = yield* checkFilter(call, sessions, { resource, filter, sorted, reads });
  const unread = unreadOf(sessions, reads);
  const keyField = isSingle(first.profile, resource)
    ? ''
    : keyFieldOf(first.profile, resource, records);
  const { columns: fields } = options;
  yield* neverCompared(fields, keyField, new Set(perDevice));
  const all = driftOf(compared, { keyField, perDevice, fields }, unread);
  const isMeant = ({ held }: DriftRow): boolean =>
    held.some((copies, index) =>
      copies.some((record) => matches(filter, record, all.devices[index]?.name ?? '')),
    );
  const rows = sortBy(all.rows.filter(isMeant), options.sort ?? [keyField], ({ held }, field) => {
    const record = held.find(({ length }) => length > 0)?.[0];
    return record !== undefined && Object.hasOwn(record, field) ? record[field] : undefined;
  });
  // Different records come first: there may be many more that are only missing somewhere.
  const differs = ({ cells }: DriftRow): boolean => cells.some(({ kind }) => kind === 'differs');
  const inOrder =
    options.sort === undefined
      ? [...rows.filter(differs), ...rows.filter((row) => !differs(row))]
      : rows;
  const lacking = new Set(rows.flatMap((row) => devicesWithout(all, row)));
  const without = sessions.filter(({ ref }) => lacking.has(ref));
  const doubtful = yield* inDoubt(without, resource, `a ${resource} that is missing there`);
  const drift = { ...all, rows: inOrder.map((row) => doubted(row, all, doubtful)) };
  yield { kind: 'drift', resource, drift, perDevice };
  const summaries = listed.map(({ session, records: own }) => {
    const omits = session.omittedIn(resource, own);
    const notRead = omits && { shown: [...new Set(own.flatMap(Object.keys))], omits };
    return { device: session.ref.name, resource, notRead };
  });
  const notRead = notReadRemarks(summaries);
  for (const remark of notRead) yield warning(remark);
  const isWhole = unread.length === 0 && notRead.length === 0;
  const isSame = isWhole && !check.findsNone && rows.every((row) => row.isSame);
  yield message(isSame ? 'done' : 'info', driftSummary(drift, resource));
}

/** Warns of requested fields that are never compared: otherwise the user would take them for equal. */
function* neverCompared(
  fields: readonly string[] = [],
  keyField: string,
  perDevice: ReadonlySet<string>,
): Generator<Output> {
  const own = fields.filter((field) => !isCompared(field, keyField, perDevice));
  if (own.length === 0) return;
  yield warning(`not compared, because each device has its own: ${own.join(', ')}`);
}

type CompareCall = Call<
  'against' | 'on' | 'columns' | 'sort' | 'fold' | 'drift' | 'watchMs' | 'countBy'
>;

const WORDS = { unexpected: 'unexpected', missing: 'missing', differs: 'differing' } as const;

/** `RESOURCE list --against FILE`: the records of each device, compared with those that the file expects. */
export async function* compareBaseline(
  call: CompareCall,
  resource: string,
  filter: Filter | undefined,
): AsyncGenerator<Output> {
  const { options } = call;
  const others = ['drift', 'watchMs', 'countBy', 'fold', 'sort'] as const;
  refuseGiven(options, others, '--against compares with a file');
  const { against: path = '' } = options;
  const name = path === '-' ? 'standard input' : path;
  const file = baselineFor(resource, await call.readText(path), name);
  const scoped = new ScopedRows(file.rows);
  await checkScopes(call, file, scoped);
  const sessions = await call.sessions();
  const stated = [...new Set(file.rows.flatMap(({ fields }) => Object.keys(fields)))];
  const { columns } = options;
  const wanted = stated.filter((field) => columns?.includes(field) !== false);
  const asked = [...wanted, ...fieldsAsked({}, filter)];
  const reads = yield* readAll(call, sessions, resource, { asked, closes: call.io.isLast });

  const problems = new Problems();
  const known = new Set(
    reads.flatMap(({ session, records }) => [...knownFields(session.profile, resource, records)]),
  );
  if (reads.some(({ records }) => records.length > 0))
    checkKnownFields(file, known, resource, problems);
  const perDevice = new Set(
    reads.flatMap(({ session }) => perDeviceFields(session.profile, resource)),
  );
  const rows = new Map<string, { deviation: Deviation; devices: string[] }>();
  const compared: string[] = [];
  let same = 0;
  for (const { session, records } of reads) {
    const { entry, profile, ref } = session;
    const keyField = keyFieldOf(profile, resource, records);
    const keyOf = (row: (typeof file.rows)[number]): string =>
      keyOfRow(row, keyField, file.isCells);
    const expected = scoped.of(entry, keyOf);
    const isStated = expected.length > 0 || file.empty?.some((text) => scopeOf(text).has(entry));
    if (file.missing.includes(ref.name) || isStated !== true) {
      const why =
        isStated === true ? 'it could not be read when the file was written' : 'no row is for it';
      const error = new UsageError(
        `not compared: ${name} does not know its ${pluralOf(resource)}, ${why}`,
      );
      yield { kind: 'error', device: ref, error };
      continue;
    }
    compared.push(ref.name);
    const isMeant = (record: DeviceRecord): boolean => matches(filter, record, ref.name);
    const keys = new Set([
      ...expected.filter(({ fields }) => isMeant(fields)).map(keyOf),
      ...records.filter(isMeant).map((record) => valueText(record[keyField])),
    ]);
    const device = { name: ref.name, profile, resource, records };
    const rules = { isCells: file.isCells, perDevice, fields: wanted };
    const found = deviationsFrom(expected, device, rules, problems).filter(
      ({ key }) => filter === undefined || keys.has(key),
    );
    same += keys.size - new Set(found.map(({ key }) => key)).size;
    for (const deviation of found) {
      const { state, key, field, expected: given, held, note } = deviation;
      const id = JSON.stringify([state, key, field, valueText(given), valueText(held), note]);
      const row = rows.get(id) ?? { deviation, devices: [] };
      rows.set(id, row);
      row.devices.push(ref.name);
    }
  }
  problems.throwAny();
  const missing = [...rows.values()].filter(({ deviation }) => deviation.state === 'missing');
  const lacking = new Set(missing.flatMap(({ devices }) => devices));
  const doubtful = sessions.filter(({ ref }) => lacking.has(ref.name));
  yield* inDoubt(doubtful, resource, `a ${resource} that is missing there`);
  yield* remarks();
  if (compared.length === 0) return;

  const keyField =
    reads[0] === undefined ? '' : keyFieldOf(reads[0].session.profile, resource, reads[0].records);
  const isTable = (options.format ?? 'table') === 'table';
  const all = [...rows.values()].map(({ deviation, devices }) => {
    const { field = '', expected, held, note, ...more } = deviation;
    return {
      ...more,
      ...(note && { note: textOf(note) }),
      ...(field !== '' && {
        field,
        expected: maskedValue(field, expected ?? null),
        held: maskedValue(field, held ?? null),
      }),
      ...(isTable ? { on: onText(devices, compared.length) } : { devices }),
    };
  });
  const sorted = sortBy(all, ['key'], (row) => row.key);
  const inOrder = (Object.keys(WORDS) as Deviation['state'][]).flatMap((state) =>
    sorted.filter((row) => row.state === state),
  );
  const columnsOf = [
    { key: 'key', title: (keyField || resource).toUpperCase() },
    'state',
    ...(all.some((row) => 'field' in row) ? ['field', 'expected', 'held'] : []),
    isTable ? 'on' : 'devices',
    all.some((row) => 'note' in row) && 'note',
  ];
  yield table('baseline', columnsOf, inOrder, { hasSuccess: true, hasDifferences: all.length > 0 });
  const deviating = new Map(all.map(({ state, key }) => [`${state}\n${key}`, state]));
  const counts = countsText([...deviating.values()], WORDS);
  const where = `on ${counted(compared.length, 'device')}`;
  const isWhole = compared.length === sessions.length;
  yield all.length === 0
    ? message(
        isWhole ? 'done' : 'info',
        `no differences from ${name}: ${counted(same, resource)} ${where}`,
      )
    : info(`differs from ${name} ${where}: ${counts}; ${same} as expected`);
  const left = sessions.map(({ ref }) => ref.name).filter((one) => !compared.includes(one));
  if (left.length > 0) yield warning(`not compared: ${someOf(left, 10)}`);

  function* remarks(): Generator<Output> {
    const own = wanted.filter(
      (field) =>
        !isCompared(field, '', perDevice) ||
        reads.some(({ records }) => records.some((record) => isDated(field, record[field]))),
    );
    if (own.length > 0) yield info(`not compared, because devices set them: ${own.join(', ')}`);
    const names = new Set(sessions.flatMap(({ ref }) => [ref.name, ref.address]));
    for (const { scope, row } of scoped.scopes) {
      const unknown = scope.names.filter((one) => !names.has(one));
      if (unknown.length > 0 && options.on.length === 0) {
        yield warning(`${row.place()}: ${someOf(unknown)} is not among the devices`);
      }
    }
  }
}

/** Above this number, devices are only counted. */
const MOST_NAMES = 4;

function onText(devices: readonly string[], of: number): string {
  return devices.length > MOST_NAMES ? `${devices.length} of ${of}` : devices.join(', ');
}
