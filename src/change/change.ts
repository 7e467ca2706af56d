import type { DeviceRecord } from '../device/record.ts';
import { matches, parseChoice } from '../fleet/filter.ts';

/** Which records a change is about: one by natural key or id, or all that a filter picks. */
export type Target =
  | { readonly kind: 'key'; readonly key: string }
  | { readonly kind: 'where'; readonly filter: string };

/** The fields whose values are sent as they are (`FIELD:=JSON`), and not in the type of the device. */
type AsJson = readonly string[];

/** What the user wants of every selected device. The only way to write starts here. Plain data. */
export type Change =
  | {
      readonly action: 'add';
      readonly resource: string;
      readonly fields: DeviceRecord;
      readonly asJson?: AsJson | undefined;
      readonly isExact?: true | undefined;
      /** Of a record that is brought back: what cannot be, as it was. */
      readonly lost?: DeviceRecord | undefined;
    }
  | {
      readonly action: 'set';
      readonly resource: string;
      readonly target: Target;
      readonly fields: DeviceRecord;
      readonly asJson?: AsJson | undefined;
      readonly expected?: Expected | undefined;
      /** The fields are values as a device had them, not what somebody typed. */
      readonly isExact?: true | undefined;
      readonly lost?: DeviceRecord | undefined;
    }
  | {
      readonly action: 'delete';
      readonly resource: string;
      readonly target: Target;
      readonly expected?: Expected | undefined;
      /** It takes an add back: nothing is lost. */
      readonly isUndo?: true | undefined;
    };

/** What these fields held when the record was last seen: one that differs now is drift, and left alone. */
export type Expected = DeviceRecord;

/**
 * The records that a filter picks. Words must be found as they are: what is written to is not guessed.
 * Throws a `UsageError` for a filter that cannot be understood.
 */
export function pickWhere(
  filter: string,
  records: readonly DeviceRecord[],
  deviceName: string,
): readonly DeviceRecord[] {
  const parsed = parseChoice(filter);
  return records.filter((record) => matches(parsed, record, deviceName));
}
