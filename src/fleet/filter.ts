import {
  type DeviceRecord,
  isValueList,
  type Value,
  nestedValue,
  valueText,
} from '../device/record.ts';
import { UsageError } from '../errors.ts';
import { normalized } from '../text/visible.ts';

export interface Condition {
  readonly kind: 'is' | 'is not';
  readonly field: string;
  readonly text: string;
}

/** devsh searches a `word` in every field and in the device name, and from three letters on fuzzily, too. */
type Term =
  | { readonly kind: 'word'; readonly text: string; readonly isFuzzy: boolean }
  | Condition
  | { readonly kind: 'pattern'; readonly field: string; readonly pattern: RegExp };

/** All terms must match; no terms match everything. */
export interface Filter {
  readonly terms: readonly Term[];
}

interface FilterOptions {
  /** False if a wrong match would do harm, as for a delete. Words must then occur as typed. */
  readonly isFuzzy?: boolean;
}

/** A record prepared for filtering: built once, tested at each key stroke. */
export interface Haystack {
  readonly record: DeviceRecord;
  readonly deviceName: string;
  /** Every text of the record in lower case, one per line. */
  readonly text: string;
}

/** The length of text that a pattern is tested on, because backtracking grows with it. */
const PATTERN_TEXT_LIMIT = 1024;
const FUZZY_LENGTH = 3;
const CONDITION = /^([\p{L}_][\p{L}\p{N}_.-]*)(!=|=|~)([^]*)$/u;
const WORD_CHARACTER = /[\p{L}\p{N}]/u;
const LOOKS_LIKE_ID = /^[0-9a-f-]{16,}$/;

/** Parses `word`, `field=value`, `field!=value`, `field~regex`. Throws UsageError at the column of a mistake. */
export function parseFilter(text: string, options: FilterOptions = {}): Filter {
  return parseFilterWords(splitWords(text), options);
}

/** Parses a filter that chooses what to write: words must occur as typed. Throws a `UsageError`, also if it is empty. */
export function parseChoice(text: string): Filter {
  const filter = parseFilter(text, { isFuzzy: false });
  if (filter.terms.every((term) => term.kind === 'word' && term.text === '')) {
    throw new UsageError({ code: 'bad-filter', is: 'empty' });
  }
  return filter;
}

/** A filter of words whose quotes are already removed. */
export function parseFilterWords(
  words: readonly { readonly text: string; readonly column: number }[],
  { isFuzzy = true }: FilterOptions = {},
): Filter {
  return { terms: words.map(({ text, column }) => parseTerm(text, column, isFuzzy)) };
}

export function fieldsIn({ terms }: Filter): string[] {
  return terms.flatMap((term) =>
    term.kind === 'word' || term.field === 'device' ? [] : [term.field],
  );
}

/** @param most the number of characters of a value that are searched */
export function prepareHaystack(
  record: DeviceRecord,
  deviceName: string,
  most = Infinity,
): Haystack {
  let text = deviceName;
  for (const field in record) text += '\n' + valueText(record[field]).slice(0, most);
  return { record, deviceName, text: searchable(text) };
}

export function matchesHaystack(filter: Filter, haystack: Haystack): boolean {
  return filter.terms.every((term) => matchesTerm(term, haystack));
}

/** Whether a record matches; each does if there is no filter. To test a record often, prepare a `Haystack`. */
export function matches(
  filter: Filter | undefined,
  record: DeviceRecord,
  deviceName: string,
): boolean {
  if (filter === undefined) return true;
  const hasWords = filter.terms.some(({ kind }) => kind === 'word');
  // Only words are searched in all fields.
  const haystack = hasWords
    ? prepareHaystack(record, deviceName)
    : { record, deviceName, text: '' };
  return matchesHaystack(filter, haystack);
}

function parseTerm(word: string, column: number, isFuzzy: boolean): Term {
  const [, field = '', operator, rest = ''] = CONDITION.exec(word) ?? [];
  switch (operator) {
    case '=':
      return { kind: 'is', field, text: searchable(rest) };
    case '!=':
      return { kind: 'is not', field, text: searchable(rest) };
    case '~':
      return { kind: 'pattern', field, pattern: compilePattern(rest, column + field.length + 1) };
    case undefined:
    default:
      return { kind: 'word', text: searchable(word), isFuzzy };
  }
}

function matchesTerm(term: Term, haystack: Haystack): boolean {
  switch (term.kind) {
    case 'word':
      if (haystack.text.includes(term.text)) return true;
      return term.isFuzzy && isFuzzyIn(haystack.text, term.text);
    case 'is':
      return isEqual(fieldOf(haystack, term.field), term.text);
    case 'is not':
      return !isEqual(fieldOf(haystack, term.field), term.text);
    case 'pattern':
      return term.pattern.test(
        valueText(fieldOf(haystack, term.field)).slice(0, PATTERN_TEXT_LIMIT),
      );
  }
}

/** A list equals a text if the whole list or one of its items does. */
function isEqual(value: Value | undefined, text: string): boolean {
  if (searchable(valueText(value)) === text) return true;
  return isValueList(value) && value.some((item) => searchable(valueText(item)) === text);
}

function fieldOf(haystack: Haystack, field: string): Value | undefined {
  const { record, deviceName } = haystack;
  if (Object.hasOwn(record, field)) return record[field];
  const lower = field.toLowerCase();
  const own = Object.keys(record).find((name) => name.toLowerCase() === lower);
  if (own !== undefined) return record[own];
  return lower === 'device' ? deviceName : nestedValue(record, field);
}

export function filteredValue(record: DeviceRecord, field: string): Value | undefined {
  return fieldOf({ record, deviceName: '', text: '' }, field);
}

/** Whether the letters of the word occur in this order ("aldt" in "alice ardent"), close together, and in no id. */
function isFuzzyIn(text: string, word: string): boolean {
  if (word.length < FUZZY_LENGTH) return false;
  const first = word.charAt(0);
  for (let start = text.indexOf(first); start !== -1; start = text.indexOf(first, start + 1)) {
    if (start > 0 && isWordCharacter(text, start - 1)) continue;
    if (hasInOrder(text, word, start) && !LOOKS_LIKE_ID.test(lineAt(text, start))) return true;
  }
  return false;
}

/** Uses the regular expression only beyond ASCII, because it is called for most letters of 100,000 records. */
function isWordCharacter(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  if (code >= 0x80) return WORD_CHARACTER.test(text.charAt(index));
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39);
}

function hasInOrder(text: string, word: string, start: number): boolean {
  const end = Math.min(text.length, start + word.length * 3);
  let found = 1;
  for (let at = start + 1; at < end && found < word.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 10) return false;
    if (code === word.charCodeAt(found)) found += 1;
  }
  return found === word.length;
}

function lineAt(text: string, index: number): string {
  const end = text.indexOf('\n', index);
  return text.slice(text.lastIndexOf('\n', index) + 1, end === -1 ? undefined : end);
}

function searchable(text: string): string {
  return normalized(text).toLowerCase();
}

/** Splits at blanks outside quotes; a quote may start inside a word (`name="a b"`). */
function splitWords(text: string): { text: string; column: number }[] {
  const words: { text: string; column: number }[] = [];
  let word: { text: string; column: number } | undefined;
  let index = 0;
  while (index < text.length) {
    const character = text.charAt(index);
    if (/\s/.test(character)) {
      word = undefined;
      index += 1;
      continue;
    }
    if (!word) {
      word = { text: '', column: index };
      words.push(word);
    }
    if (character === '"' || character === "'") {
      const end = text.indexOf(character, index + 1);
      if (end === -1) throw new UsageError({ code: 'bad-filter', is: 'quote' }, { column: index });
      word.text += text.slice(index + 1, end);
      index = end + 1;
    } else {
      word.text += character;
      index += 1;
    }
  }
  return words;
}

/** Compiles a pattern that ignores case. Throws a `UsageError` at `column` if it is invalid or could take forever. */
function compilePattern(pattern: string, column: number): RegExp {
  if (canBacktrack(pattern))
    throw new UsageError({ code: 'bad-filter', is: 'slow', pattern }, { column });
  try {
    return new RegExp(pattern, 'iu');
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^.*: /, '') : String(error);
    throw new UsageError(
      { code: 'bad-filter', is: 'pattern', pattern, reason },
      { column, cause: error },
    );
  }
}

/** Whether backtracking may grow exponentially, as in `(a+)+` and `(a|a)*`. Also true for some harmless patterns. */
function canBacktrack(source: string): boolean {
  const groups: boolean[] = [];
  let isInClass = false;
  for (let index = 0; index < source.length; index += 1) {
    const character = source.charAt(index);
    if (character === '\\') {
      index += 1;
    } else if (isInClass) {
      isInClass = character !== ']';
    } else if (character === '[') {
      isInClass = true;
    } else if (character === '(') {
      groups.push(false);
      // The `?` of `(?:` is not a quantifier.
      if (source.charAt(index + 1) === '?') index += 1;
    } else if (character === ')') {
      const isVariable = groups.pop() ?? false;
      if (isVariable && /^[*+{]/.test(source.slice(index + 1))) return true;
      if (isVariable && groups.length > 0) groups[groups.length - 1] = true;
    } else if ('*+?{|'.includes(character) && groups.length > 0) {
      groups[groups.length - 1] = true;
    }
  }
  return false;
}
