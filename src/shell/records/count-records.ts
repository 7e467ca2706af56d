import {
  type DeviceRecord,
  grouped,
  type Value,
  nestedValue,
  valueText,
} from '../../device/record.ts';
import { maskedRecord, maskedValue, isSecretName } from '../../device/sensitive-fields.ts';
import { UsageError } from '../../errors.ts';
import type { Filter } from '../../fleet/filter.ts';
import { sortBy } from '../../fleet/sort.ts';
import { counted } from '../../text/one-line.ts';
import type { Call } from '../command.ts';
import { info, type Output, table, warning } from '../output.ts';
import { readAll, refuseGiven } from './compare-records.ts';
import { checkFilter, fieldsAsked, matching, unreadOf } from './read-records.ts';

type CountCall = Call<'columns' | 'sort' | 'fold' | 'drift' | 'watchMs'>;

/** The value of one record, and the device that has it. */
interface Held {
  readonly value: Value | undefined;
  readonly device: string;
}

/** `RESOURCE list --count-by FIELD`: how many records have which value, over the selected devices. */
export async function* countRecords(
  call: CountCall,
  resource: string,
  filter: Filter | undefined,
  field: string,
): AsyncGenerator<Output> {
  if (isSecretName(field)) {
    throw new UsageError(`--count-by: ${field} may be a secret, and devsh shows no secrets`);
  }
  const others = ['drift', 'watchMs', 'fold', 'columns', 'sort'] as const;
  refuseGiven(call.options, others, '--count-by prints counts, sorted by count');
  const sessions = await call.sessions();
  const asked = fieldsAsked({ columns: [field] }, filter);
  const reads = yield* readAll(call, sessions, resource, { asked, closes: call.io.isLast });
  const found = reads.flatMap(({ session, records }) => {
    const { name: device } = session.ref;
    return matching(filter, records, device).map((record): Held => {
      return { device, value: valueIn(record, field, device) };
    });
  });
  // 5 and "5" are one value, as in a filter.
  const counts = grouped(found, ({ value }) =>
    value === undefined || value === null ? String(value) : `=${valueText(value)}`,
  );
  if (reads.length === 0) return;
  const unread = unreadOf(sessions, reads);
  yield* checkFilter(call, sessions, { resource, filter, sorted: [field], reads });
  const rows = sortBy(
    [...counts.values()].map(rowOf),
    ['-records', 'value'],
    (row, name) => row[name],
  );
  const hasNotes = rows.some(({ note }) => note !== undefined);
  const columns = [{ key: 'value', title: field.toUpperCase() }, 'records', 'devices'];
  yield table('counts', [...columns, hasNotes && 'note'], rows, { hasSuccess: true });
  yield info(
    `${counted(found.length, resource)} on ${counted(reads.length, 'device')}, ${counted(rows.length, 'value')}`,
  );
  if (unread.length > 0) {
    yield warning(
      `not counted: ${unread.length} of ${counted(sessions.length, 'device')} could not be read`,
    );
  }
}

function valueIn(record: DeviceRecord, field: string, device: string): Value | undefined {
  if (Object.hasOwn(record, field)) return maskedValue(field, record[field] ?? null);
  if (field === 'device') return device;
  return field.includes('.') ? nestedValue(maskedRecord(record), field) : undefined;
}

/** The row has no `value` if the records do not have the field. */
function rowOf(same: readonly [Held, ...Held[]]): Readonly<Record<string, Value>> {
  const [{ value }] = same;
  const note =
    value === undefined
      ? 'no such field'
      : value === null
        ? 'null'
        : valueText(value) === ''
          ? 'empty'
          : undefined;
  return {
    ...(value !== undefined && { value }),
    records: same.length,
    devices: new Set(same.map(({ device }) => device)).size,
    ...(note !== undefined && { note }),
  };
}
