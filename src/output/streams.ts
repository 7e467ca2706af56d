import type { NotCovered } from '../change/plan.ts';
import { styleText } from 'node:util';
import { DeclinedError, type DevshError, UsageError } from '../errors.ts';
import type { Output } from '../shell/output.ts';
import { type DeviceRef, grouped } from '../device/record.ts';
import { cut, visible, visibleLines, widthOf } from '../text/visible.ts';

export interface Streams {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly isTty: boolean;
  readonly isErrTty: boolean;
  readonly columns: number;
  readonly color: boolean;
  readonly quiet: boolean;
  /** Every device that fails is named. */
  readonly verbose?: boolean;
  /** Tables and CSV have no header line. */
  readonly noHeaders?: boolean;
  /** The line being run; an error may point into it. */
  readonly typed?: TypedLine;
}

export interface Writer {
  write(output: Output): void;
  /** The command has ended; `error` is why it ended early. Call once. */
  end(error?: DevshError): void;
}

/** In UTF-16 units. */
const PIECE_LENGTH = 64 * 1024;

/** Writes each part and `end`: in few large writes, and never with the text of a whole fleet in memory. */
export function writeInPieces(parts: Iterable<string>, out: Streams['out'], end = ''): void {
  let piece = '';
  for (const part of parts) {
    piece += part + end;
    if (piece.length < PIECE_LENGTH) continue;
    out(piece);
    piece = '';
  }
  if (piece !== '') out(piece);
}

/** Colour only adds emphasis: a word or sign always says the same. */
export type Tone = 'heading' | 'good' | 'bad' | 'warning' | 'quiet';

/** Colours text by tone; returns it unchanged without colour. */
export type Style = (tone: Tone, text: string) => string;

const FORMATS = {
  heading: 'bold',
  good: 'green',
  bad: 'red',
  warning: 'yellow',
  quiet: 'dim',
} as const;

export function createStyle(hasColor: boolean): Style {
  // Colour is already decided; `styleText` would check stdout again.
  return (tone, text) =>
    hasColor && text !== '' ? styleText(FORMATS[tone], text, { validateStream: false }) : text;
}

/** What was typed, with secrets hidden, and the room to show it. */
interface TypedLine {
  readonly text: string;
  readonly columns: number;
  /** Then words give the column instead of a mark below the line. */
  readonly isReadAloud: boolean;
}

/** Why a device failed, without its name. One line, safe to show. */
export function reasonText(error: DevshError, device: DeviceRef | undefined): string {
  const prefix = device ? `${device.name}: ` : '';
  const { message } = error;
  return visible(clipped(message.startsWith(prefix) ? message.slice(prefix.length) : message));
}

export type Failure = NotCovered;

/** The device that an output says has failed, and why. */
export function failureOf(output: Output): Failure | undefined {
  const { kind } = output;
  if (kind === 'error') return output.device && { device: output.device, error: output.error };
  const isUnread = kind === 'read' && !output.outcome.ok;
  return isUnread ? { device: output.device, error: output.outcome.error } : undefined;
}

/** Why devices failed, and which: `text` holds for each of them. */
interface Cause {
  readonly text: string;
  readonly failures: readonly [Failure, ...Failure[]];
}

/** Each cause once, in order of appearance. */
export function causesOf(failures: readonly Failure[]): Cause[] {
  const sharedReason = ({ device, error }: Failure): string =>
    withoutDevice(reasonText(error, device), device);
  return [...grouped(failures, sharedReason)].map(([cause, found]) => {
    const [{ error, device }] = found;
    // A single device keeps its name, so that its commands can be copied.
    return { text: found.length === 1 ? reasonText(error, device) : cause, failures: found };
  });
}

export const MOST_NAMED = 3;

/** "✗ fw1, fw2, fw4 +10: no answer within 5 s": each cause once, with all names or the first ones. */
export function causeLines(failures: readonly Failure[], named: 'all' | 'some' = 'all'): string[] {
  return causesOf(failures).map(({ text, failures: found }) => {
    const names = [...new Set(found.map(({ device }) => visible(device.name)))];
    return `✗ ${named === 'some' ? firstNames(names) : names.join(', ')}: ${text}`;
  });
}

/** "fw1, fw2, fw3 +10"; one more name takes no more room than its number. */
export function firstNames(names: readonly string[]): string {
  return names.length > MOST_NAMED + 1
    ? `${names.slice(0, MOST_NAMED).join(', ')} +${names.length - MOST_NAMED}`
    : names.join(', ');
}

/** A text without the name and address of its device, in the words for several ones. */
export function withoutDevice(text: string, { name, address }: DeviceRef): string {
  const shown = visible(name);
  return text
    .replaceAll(` ${shown}"`, ' DEVICE"')
    .replaceAll(` ${shown} `, ' DEVICE ')
    .replaceAll(visible(address), 'the device');
}

/** Adds what the user may have meant; `typed` is the line that the error points into. */
export function errorLines(error: DevshError, style: Style, typed?: TypedLine): string[] {
  if (error instanceof DeclinedError) return [visibleLines(error.message)];
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

/** A pasted word may have a megabyte: shows enough to recognize it. */
function clipped(message: string): string {
  return message.replace(/\S{500,}/g, (word) => `${word.slice(0, 200)}…`);
}

const INDENT = '  ';

/** The line, and below it a `^` at `column` (UTF-16 units from 0); of a long line what is around it. */
export function pointedLine(
  { text, columns }: Pick<TypedLine, 'text' | 'columns'>,
  column: number,
): [string, string] {
  const room = Math.max(20, columns - INDENT.length);
  const start = Math.max(0, column - Math.floor(room / 2));
  const isCut = start > 0 && text.length > room;
  const from = isCut ? start : 0;
  // Limited to what can be shown: the line may have a megabyte.
  const before = (isCut ? '…' : '') + visible(text.slice(from, column).padEnd(column - from));
  const shown = cut(before + visible(text.slice(column, column + room)), room);
  return [INDENT + shown.trimEnd(), `${INDENT}${' '.repeat(widthOf(before))}^`];
}
