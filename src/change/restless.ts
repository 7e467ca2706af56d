import { uncomparedFields } from '../device/observation.ts';
import type { Profile } from '../device/profile.ts';
import type { DeviceRecord } from '../device/record.ts';
import { isTimeStamp, valueText } from '../device/value-text.ts';
import { changesSince } from './compare.ts';
import { pairRecords } from './pairing.ts';
import type { Step } from './plan.ts';

type About = Pick<Step, 'keyField' | 'resource' | 'asked'>;

/**
 * Fields that changed from one reading to the next although nobody asked for it, and that may be
 * counters or clocks: they hold digits, and the API document does not tell of them.
 */
export function suspectFields(
  profile: Profile,
  { keyField, resource, asked }: About,
  earlier: readonly DeviceRecord[],
  later: readonly DeviceRecord[],
): string[] {
  const known = profile.resources[resource];
  const ignored = [
    keyField,
    ...profile.idFields,
    ...uncomparedFields(profile, resource),
    ...(known?.fields ?? []),
    ...(known?.choiceFields ?? []),
    ...Object.keys(asked),
  ];
  const { heirs } = pairRecords(profile, { keyField, resource }, earlier, later);
  const fields = [...heirs].flatMap(([record, heir]) =>
    changesSince(record, heir, ignored)
      .filter(({ sent, held }) => isReading(sent) && isReading(held) && !isTimeStamp(sent))
      .map(({ field }) => field),
  );
  return [...new Set(fields)];
}

/**
 * Fields that changed, and changed again while nothing was sent: volatile ones. What a request, or
 * somebody else, has changed stays as it is then.
 */
export function restlessFields(
  profile: Profile,
  about: About,
  [first, second, third]: readonly [
    readonly DeviceRecord[],
    readonly DeviceRecord[],
    readonly DeviceRecord[],
  ],
): string[] {
  const suspects = suspectFields(profile, about, first, second);
  if (suspects.length === 0) return [];
  return suspectFields(profile, about, second, third).filter((field) => suspects.includes(field));
}

/** Whether a value may be one of a counter or a clock: `7`, `"3 days, 2:11"`. */
function isReading(value: DeviceRecord[string]): boolean {
  return typeof value !== 'boolean' && typeof value !== 'object' && /\d/.test(valueText(value));
}
