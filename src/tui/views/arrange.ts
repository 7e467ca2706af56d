import { DevshError } from '../../errors.ts';
import {
  matchesHaystack,
  parseFilter,
  prepareHaystack,
  type Filter,
  type Haystack,
} from '../../fleet/filter.ts';
import { sortBy } from '../../fleet/sort.ts';
import { lineText } from '../editor/line.ts';
import { memoized } from '../screen/memoized.ts';
import type { Find } from '../state.ts';

/* What `/`, `s` and `o` do with a list over the table, the same for each. */

/** What is told of an item, by the names of its columns. */
export type ListRecord = Haystack['record'];

/** The items of a list and what is known of each, whatever its rows look like. */
export interface ListSource<T> {
  readonly items: readonly T[];
  readonly idOf: (item: T) => string;
  /** What it is sorted by, in the order of the columns; also the fields of a filter. */
  readonly fields: readonly string[];
  readonly recordOf: (item: T) => ListRecord;
  /** What a filter looks at where that is more than the record. */
  readonly haystacksOf?: (item: T) => readonly Haystack[];
  /** The failed and doubtful ones: they come first. */
  readonly isDoubtful?: (item: T) => boolean;
}

interface Arranged {
  readonly sort: string | undefined;
  readonly text: string;
  readonly items: readonly unknown[];
}

/** By the items as they came: what the last filter and order made of them. */
const known = new WeakMap<readonly unknown[], Arranged>();

/** The items that the filter leaves, in the order in which they are shown. */
export function arranged<T>(source: ListSource<T>, { editing, sort }: Find): readonly T[] {
  const text = lineText(editing.line);
  const before = known.get(source.items);
  // What was made of these items is of their type.
  if (before !== undefined && before.sort === sort && before.text === text)
    return before.items as readonly T[];
  const items = sorted(filtered(source, filterOf(text)), source, sort);
  known.set(source.items, { sort, text, items });
  return items;
}

function filtered<T>({ items, recordOf, haystacksOf }: ListSource<T>, filter: Filter) {
  if (filter.terms.length === 0) return items;
  const lookAt = haystacksOf ?? ((item: T) => [prepareHaystack(recordOf(item), '')]);
  return items.filter((item) => lookAt(item).some((one) => matchesHaystack(filter, one)));
}

function sorted<T>(
  items: readonly T[],
  { recordOf, isDoubtful }: ListSource<T>,
  sort: string | undefined,
): readonly T[] {
  if (sort !== undefined) return sortBy(items, [sort], (item, field) => recordOf(item)[field]);
  if (isDoubtful === undefined || !items.some(isDoubtful)) return items;
  return [...items.filter(isDoubtful), ...items.filter((item) => !isDoubtful(item))];
}

/** `s`: by the next field, behind the last one as the list came; `o`: the other way round. */
export function nextSort(
  fields: readonly string[],
  sort: string | undefined,
  action: 'sort' | 'reverse',
): string | undefined {
  const name = sort?.replace(/^-/, '') ?? '';
  if (action === 'sort') return fields[fields.indexOf(name) + 1];
  return sort !== undefined && sort !== name ? name : `-${name || (fields[0] ?? '')}`;
}

/** As in the table, but words must be there as typed; half a pattern is taken as words. */
const filterOf = memoized((text: string): Filter => {
  try {
    return parseFilter(text, { isFuzzy: false });
  } catch (error) {
    if (!(error instanceof DevshError)) throw error;
    return { terms: [{ kind: 'word', text: text.toLowerCase(), isFuzzy: false }] };
  }
});
