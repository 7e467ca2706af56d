import { type DeviceRecord, isValueList, valueText } from '../device/record.ts';
import { holdsSecret, isGuess, isSecretName } from '../device/sensitive-fields.ts';
import type { Note } from '../output/sentences.ts';
import { noRecord } from '../text/one-line.ts';
import { type Condition, fieldsIn, type Filter, filteredValue, matches } from './filter.ts';

const OR = /^(?:or|\|\|?)$/i;

/** Words with a meaning in other tools, but not in a filter of devsh. They count only if no record has them. */
const ODD_WORDS = [
  [/^(?:where|and|&&)$/, 'and'],
  [OR, 'or'],
  [/^(?:==?|!=|=~|~|in|eq|is|like)$|^\w+ +(?:==?|!=|=~|~|in|eq|is|like)\b/, 'operator'],
  [/^not$/, 'not'],
  [/^(?:asc|desc)$/, 'order'],
  [/^[^*]*\*[^*]*$/, 'star'],
  [/^(?:yesterday|today|\d+(?:m|h|d|w))$/, 'time'],
  [/^\/.*\/\w*$/, 'regex'],
  [/^\w+(?:,\w+)+$/, 'columns'],
  [/^\w+=[^=]*,\w+=/, 'commas'],
  [/^[\w-]+(?:\.[\w-]+)+(?::\d+)?$/, 'device'],
] as const;

/** Finds out from the records whether a filter has no match, or cannot be right. */
export class FilterCheck {
  readonly #filter: Filter | undefined;
  readonly #missing: Set<string>;
  readonly #fields = new Set<string>();
  /** By condition that nothing matches: the values of its field. Conditions on secrets are left out. */
  readonly #others = new Map<Condition, Set<string>>();
  /** The first term, if it is a word that no record matches so far. */
  #first: Filter | undefined;
  #records = 0;
  #found = 0;

  /** @param others fields that the line names besides the filter, to sort or to count by */
  constructor(filter: Filter | undefined, others: readonly string[] = []) {
    this.#filter = filter;
    const named = [...(filter === undefined ? [] : fieldsIn(filter)), ...others];
    this.#missing = new Set(named.filter((field) => field !== 'device'));
    const [first] = filter?.terms ?? [];
    if (first?.kind === 'word') this.#first = { terms: [first] };
    for (const term of filter?.terms ?? []) {
      if (term.kind !== 'is' || term.field === 'device' || isSecretName(term.field)) continue;
      this.#others.set(term, new Set());
    }
  }

  /** @param found the number of these records that match; @param described the fields that the profile knows */
  add(
    records: readonly DeviceRecord[],
    found: number,
    described: readonly string[] = [],
    device = '',
  ): void {
    this.#records += records.length;
    this.#found += found;
    for (const field of described) this.#fields.add(field);
    for (const record of records) for (const field in record) this.#fields.add(field);
    for (const field of this.#missing) {
      const isShown = records.some((record) => filteredValue(record, field) !== undefined);
      if (isShown || described.includes(field)) this.#missing.delete(field);
    }
    if (this.#first && records.some((record) => matches(this.#first, record, device)))
      this.#first = undefined;
    for (const [term, others] of this.#others) {
      for (const record of records) {
        const value = filteredValue(record, term.field) ?? [];
        for (const one of isValueList(value) ? value : [value]) {
          const isHidden = isGuess(term.field, one) || holdsSecret(one, term.field);
          if (!isHidden) others.add(valueText(one) || '""');
        }
        if (matches({ terms: [term] }, record, '')) this.#others.delete(term);
      }
    }
  }

  /** Whether the first term is a word that no record matches. */
  get hasUnknownWord(): boolean {
    return this.#first !== undefined;
  }

  get findsNone(): boolean {
    return this.#filter !== undefined && this.#records > 0 && this.#found === 0;
  }

  /** `no record has lang=ge; did you mean de?`: a note about a value that no record has, which may still be right. */
  unknownValue(none: string): Note | undefined {
    const [found] = this.findsNone ? this.#others : [];
    if (found === undefined) return undefined;
    const [{ field, text }, others] = found;
    return { code: 'no-such-value', field, text, values: [...others], none };
  }

  /** What cannot be right in the filter; undefined if it may be right. `none`: see `noRecord`. */
  doubt(none = noRecord()): Note | undefined {
    if (this.#records === 0) return undefined;
    const [field] = this.#missing;
    if (field === 'asc' || field === 'desc') return { code: 'order-as-field', field, none };
    if (field !== undefined)
      return { code: 'no-such-field', field, fields: [...this.#fields], none };
    if (this.#filter === undefined || !this.findsNone) return undefined;
    const words = this.#filter.terms.map((term) =>
      term.kind === 'is' ? `${term.field}=${term.text}` : 'text' in term ? term.text : '',
    );
    for (const word of joinedAlternatives(words)) {
      const meant = this.#correctedWord(word);
      if (meant !== undefined && meant !== '') return { code: 'other-spelling', word, meant, none };
      const [, is] = ODD_WORDS.find(([pattern]) => pattern.test(word)) ?? [];
      if (is !== undefined) return { code: 'odd-word', is, word, none };
    }
    const named = this.#filter.terms.find(
      (term) => term.kind === 'word' && this.#fields.has(term.text),
    );
    return named !== undefined && 'text' in named
      ? { code: 'field-as-word', field: named.text }
      : undefined;
  }

  /** Translates conditions in the spelling of other tools into that of devsh. */
  corrected(words: readonly string[]): string[] {
    return joinedAlternatives(words).map((word) => this.#correctedWord(word) ?? word);
  }

  /** The correction of `lang==de`, `lang:de`, `lang=de,fr` and `lang=de or lang=fr`. */
  #correctedWord(word: string): string | undefined {
    // Other tools write these words in front of conditions, or between them.
    if (/^(?:where|and|&&)$/.test(word)) return '';
    const [, excluded] = /^!([^=]+=.+)$/.exec(word) ?? [];
    if (excluded !== undefined) return excluded.replace('=', '!=');
    const [, field = '', operator = '', text = ''] =
      /^([\p{L}_][\p{L}\p{N}_.-]*)(==|=|:)([^]+)$/u.exec(word) ?? [];
    if (!this.#fields.has(field)) return undefined;
    const value = text.replace(/^=/, '');
    // `Doe, John` is one value.
    const values = value.split(/,|\|\|?| or /i).map((one) => withoutField(one, field));
    if (values.length > 1 && values.every((one) => /^[\w@-]+$/.test(one)))
      return `${field}~^(${values.join('|')})$`;
    return operator === '==' || operator === ':' || value !== text
      ? `${field}=${value}`
      : undefined;
  }
}

function withoutField(text: string, field: string): string {
  return text.startsWith(`${field}=`) ? text.slice(field.length + 1).replace(/^=/, '') : text;
}

/** Joins two values of one field, side by side or with "or" between them, as one word: `lang=de,lang=fr`. */
function joinedAlternatives(words: readonly string[]): string[] {
  const joined: string[] = [];
  for (const word of words) {
    const [, field] = /^([^-=,][^=,]*)=/.exec(word) ?? [];
    const hasOr = OR.test(joined.at(-1) ?? '');
    const before = joined.at(hasOr ? -2 : -1);
    const isOther = field !== undefined && before !== word && before?.startsWith(`${field}=`);
    if (isOther === true) joined.splice(hasOr ? -2 : -1, 2, `${before ?? ''},${word}`);
    else joined.push(word);
  }
  return joined;
}
