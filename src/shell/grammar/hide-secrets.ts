import { passwordSpan, withoutPassword, MASK } from '../../text/one-line.ts';
import { jsonIn } from '../../device/json.ts';
import { jsonText } from '../../device/record.ts';
import {
  maskedPath,
  maskedValue,
  isSecretName,
  NAME_OF_VALUE,
  secretAsWord,
} from '../../device/sensitive-fields.ts';
import { type Word, parseLine, quoteLine } from '../../text/words.ts';

/** Replaces values of secret fields, and passwords in addresses, by dots. Columns stay, as the length is the same. */
export function hideSecrets(line: string): string {
  const { words } = parseLine(line);
  const comment = { start: words.at(-1)?.end ?? 0, end: line.length };
  const asWord = secretAsWord(line);
  let shown = asWord === undefined ? line : dotted(line, asWord, line.length);
  for (const { start, end } of [...words, comment]) {
    const word = line.slice(start, end);
    // Most words of a long line are plain names.
    if (!/[:=~]|--/.test(word)) continue;
    const login = passwordSpan(word, true);
    if (login !== undefined) shown = dotted(shown, start + login.start, start + login.end);
    const secret = secretIn(word);
    if (secret === undefined) continue;
    shown = dotted(shown, start + secret.start, secret.goesOn ? line.length : end);
  }
  return shown;
}

function dotted(line: string, from: number, until: number): string {
  return line.slice(0, from) + '•'.repeat(until - from) + line.slice(until);
}

/** Where the value of a secret begins. `goesOn`: the value is in the next words, as in `Authorization: Token …`. */
function secretIn(word: string): { start: number; goesOn: boolean } | undefined {
  for (const { index, 0: text, 1: name = '', 2: operator = '' } of word.matchAll(NAME_OF_VALUE)) {
    const start = index + text.length;
    if (!isSecretName(name.replace(/["'\\]/g, ''))) continue;
    return { start, goesOn: /^[:\s]?$/.test(operator) && start === word.length };
  }
  return undefined;
}

/** A text of the user, cut at the value of the first secret field in it. */
export function maskedText(text: string): string {
  const secret = secretIn(text);
  return withoutPassword(secret === undefined ? text : `${text.slice(0, secret.start)}${MASK}`);
}

/** Hides secrets in the process title: any user of this machine can list the arguments of a process. */
export function hideArguments(argv: readonly string[]): void {
  const typed = quoteLine(argv);
  const shown = hideSecrets(typed);
  if (shown !== typed) process.title = `devsh ${shown}`;
}

/** The line with the values of secret fields, and passwords in addresses, masked. */
export function maskedLine(words: readonly Word[]): string {
  return quoteLine(maskedWords(words));
}

export function maskedWords(words: readonly Word[]): string[] {
  return words.map(({ text }) => maskedWord(text));
}

export function maskedWord(text: string): string {
  if (!/[\s:=~]/.test(text)) return text;
  const [compared, name = ''] = /^([^=~!\s]+)(?:!=|~|=)(?=.)/s.exec(text) ?? [];
  if (compared !== undefined && isSecretName(name)) return `${compared}${MASK}`;
  const [, field = '', value = ''] = /^([^=\s]+)=(.+)$/s.exec(text) ?? [];
  if (/^\s*[[{]/.test(value)) return `${field}=${maskedJson(value)}`;
  if (/\s/.test(text)) return maskedText(text);
  return value !== '' && maskedValue('', value) === MASK
    ? `${field}=${MASK}`
    : withoutPassword(maskedPath(text));
}

/** A nested value unchanged, or masked if it contains secrets. */
export function maskedJson(text: string): string {
  const value = jsonIn(text);
  if (value === undefined) return text;
  const masked = jsonText(maskedValue('', value));
  return masked === jsonText(value) ? text : masked;
}
