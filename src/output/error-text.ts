import type { DeviceRef } from '../device/record.ts';
import { UsageError, type DevshError } from '../errors.ts';
import { visible, visibleLines } from '../visible.ts';
import { pointedLine, type TypedLine } from './pointed-line.ts';
import type { Style } from './style.ts';

/** Why a device failed, without its name, which stands before it already. One harmless line. */
export function reasonText(error: DevshError, device: DeviceRef | undefined): string {
  const prefix = device ? `${device.name}: ` : '';
  const { message } = error;
  return visible(clipped(message.startsWith(prefix) ? message.slice(prefix.length) : message));
}

/** "✗ fw3: no answer within 5 s" */
export function failureLine(device: DeviceRef, error: DevshError, style: Style): string {
  return style('bad', `✗ ${visible(device.name)}: ${reasonText(error, device)}`);
}

/** A device that failed, and why. */
export interface Failure {
  readonly device: DeviceRef;
  readonly error: DevshError;
}

/**
 * Each cause once with its devices, in the order of their coming: "✗ fw3: no answer within 5 s",
 * "✗ no answer within 5 s: fw1, fw2, fw4 +10".
 *
 * @param most so many names of one cause are written out
 */
export function causeLines(failures: readonly Failure[], most = Infinity): string[] {
  const causes = new Map<string, Failure[]>();
  for (const failure of failures) {
    const cause = causeText(failure);
    const same = causes.get(cause);
    if (same === undefined) causes.set(cause, [failure]);
    else same.push(failure);
  }
  return [...causes].map(([cause, [first, ...others]]) => {
    if (first !== undefined && others.length === 0) {
      return failureLine(first.device, first.error, (_tone, text) => text);
    }
    const names = [first, ...others].map((failure) => visible(failure?.device.name ?? ''));
    const rest = names.length > most ? ` +${names.length - most}` : '';
    return `✗ ${cause}: ${names.slice(0, most).join(', ')}${rest}`;
  });
}

/** The reason in words that hold for each device that has it. */
export function causeText({ device, error }: Failure): string {
  const { name, address } = device;
  return reasonText(error, device)
    .replaceAll(visible(address), 'the device')
    .replaceAll(` ${visible(name)}"`, ' DEVICE"');
}

/**
 * An error that is not about one device, with what the user may have meant.
 *
 * @param typed the line that the error points into
 */
export function errorLines(error: DevshError, style: Style, typed?: TypedLine): string[] {
  const { suggestions = [], column } = error instanceof UsageError ? error : {};
  const place =
    column !== undefined && typed?.isReadAloud === true ? ` (column ${column + 1})` : '';
  const lines = [style('bad', 'error: ') + visibleLines(clipped(error.message)) + place];
  if (column !== undefined && typed?.isReadAloud === false) {
    const [line, mark] = pointedLine(typed, column);
    lines.push(style('quiet', line), style('bad', mark));
  }
  if (suggestions.length > 0) {
    lines.push(`  did you mean ${suggestions.map((text) => `'${visible(text)}'`).join(' or ')}?`);
  }
  return lines;
}

/** A word may be a megabyte that somebody pasted: enough of it is shown to know it again. */
function clipped(message: string): string {
  return message.replace(/\S{500,}/g, (word) => `${word.slice(0, 200)}…`);
}
