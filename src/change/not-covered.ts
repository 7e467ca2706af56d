import { isChangedCertificate } from '../device/errors.ts';
import { type DeviceRef, grouped } from '../device/record.ts';
import type { DevshError } from '../errors.ts';
import { someOf } from '../text/one-line.ts';
import { visible } from '../text/visible.ts';
import type { Plan } from './plan.ts';

/** A selected device of which nothing is known, and to which nothing was sent. */
export interface NotCovered {
  readonly device: DeviceRef;
  /** Why it could not be read. */
  readonly error: DevshError;
}

/** Codes of errors in words, behind a count or in parentheses. */
const IN_WORDS: Readonly<Record<string, string>> = {
  protocol: 'without a usable answer',
  unauthorized: 'refused the login',
  forbidden: 'forbid it',
  credentials: 'without a login',
  rejected: 'refused the request',
  refused: 'read-only',
  settings: 'with a settings file in the way',
};

/** Why a device failed, in one or two words. */
export function failureWord(error: DevshError): string {
  return isChangedCertificate(error) ? 'certificate CHANGED' : error.code;
}

export function causeText(error: DevshError): string {
  return IN_WORDS[error.code] ?? failureWord(error);
}

/** The selected devices that a plan says nothing of. */
export function notCoveredBy({ devices }: Pick<Plan, 'devices'>): readonly NotCovered[] {
  return devices.flatMap(({ device, error }) => (error === undefined ? [] : [{ device, error }]));
}

/**
 * "not covered: fw11, fw12 (unreachable); fw7 (refused the login)"; empty when there is none.
 *
 * @param most of one cause, so many are named; of more, how many they are is said, too
 */
export function notCoveredText(list: readonly NotCovered[], most = Infinity): string {
  const causes = grouped(list, ({ error }) => causeText(error));
  const parts = [...causes].map(([cause, devices]) => {
    const names = devices.map(({ device }) => visible(device.name));
    return `${someOf(names, most)} (${cause})`;
  });
  if (parts.length === 0) return '';
  const isCut = [...causes.values()].some(({ length }) => length > most);
  return `not covered${isCut ? ` (${list.length} devices)` : ''}: ${parts.join('; ')}`;
}

/** All of them as plain data. */
export function notCoveredData(list: readonly NotCovered[]) {
  if (list.length === 0) return undefined;
  return list.map(({ device, error }) => ({
    device: device.name,
    address: device.address,
    code: error.code,
  }));
}
