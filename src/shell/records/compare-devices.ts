import { perDeviceFields, isCompared } from '../../fleet/compared.ts';
import { isSingle, keyFieldOf } from '../../device/profile.ts';
import { UsageError } from '../../errors.ts';
import { driftOf, type DriftRow, driftSummary } from '../../fleet/drift.ts';
import { type Filter, matches } from '../../fleet/filter.ts';
import { sortBy } from '../../fleet/sort.ts';
import type { Call } from '../command.ts';
import { message, type Output, warning } from '../output.ts';
import { readAll } from './comparing.ts';
import { fieldsAsked, withFields } from './read-records.ts';

/** A filter chooses records, not their copies: what matches on one device is compared on all of them. */
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
  const reads = yield* readAll(call, sessions, resource, {
    refine: (session, records) => withFields(call, session, resource, records, asked),
  });
  const answered = reads.map(({ session }) => session);
  const [first] = answered;
  if (first === undefined) return;
  if (answered.length < 2) {
    yield warning(`only ${first.ref.name} responded: there is nothing to compare it with`);
    return;
  }
  const compared = reads.map(({ session, records }) => ({ device: session.ref, records }));
  const perDevice = [
    ...new Set(answered.flatMap(({ profile }) => perDeviceFields(profile, resource))),
  ];
  const records = compared.flatMap((read) => read.records);
  const keyField = isSingle(first.profile, resource)
    ? ''
    : keyFieldOf(first.profile, resource, records);
  const { columns: fields } = options;
  yield* neverCompared(fields, keyField, new Set(perDevice));
  const read = new Set(answered);
  const unread = sessions.filter((one) => !read.has(one)).map(({ ref }) => ref);
  const all = driftOf(compared, { keyField, perDevice, fields }, unread);
  const isMeant = ({ held }: DriftRow): boolean =>
    held.some((copies, index) =>
      copies.some((record) => matches(filter, record, all.devices[index]?.name ?? '')),
    );
  const rows = sortBy(all.rows.filter(isMeant), options.sort ?? [keyField], ({ held }, field) => {
    const record = held.find(({ length }) => length > 0)?.[0];
    return record !== undefined && Object.hasOwn(record, field) ? record[field] : undefined;
  });
  // What differs would drown in what is only missing somewhere.
  const differs = ({ cells }: DriftRow): boolean => cells.some(({ kind }) => kind === 'differs');
  const inOrder =
    options.sort === undefined
      ? [...rows.filter(differs), ...rows.filter((row) => !differs(row))]
      : rows;
  const drift = { ...all, rows: inOrder };
  yield { kind: 'drift', resource, drift, perDevice };
  const isSame = unread.length === 0 && rows.every((row) => row.isSame);
  const text = driftSummary(drift, resource);
  yield message(isSame ? 'done' : 'info', text);
}

/** That a field was asked for and nothing is said of it is no proof that it is the same. */
function* neverCompared(
  fields: readonly string[] = [],
  keyField: string,
  perDevice: ReadonlySet<string>,
): Generator<Output> {
  const own = fields.filter((field) => !isCompared(field, keyField, perDevice));
  if (own.length === 0) return;
  yield warning(`not compared, because each device has its own: ${own.join(', ')}`);
}
