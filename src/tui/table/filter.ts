import {
  type Filter,
  type Haystack,
  matchesHaystack,
  prepareHaystack,
} from '../../fleet/filter.ts';
import type { FoldedRow } from '../../fleet/fold.ts';

/** The rows that a filter leaves, in their order. */
interface FilteredRows {
  readonly rows: readonly FoldedRow[];
  /** No record holds the words of the filter as they are typed: these look like them. */
  readonly isSimilar: boolean;
}

/** Rows, and place by place what a filter looks at; that is made when a row is first tested. */
interface Searched {
  readonly rows: readonly FoldedRow[];
  readonly haystacks: (Haystack | undefined)[];
}

interface Known {
  readonly all: readonly FoldedRow[];
  readonly filter: Filter;
  readonly found: FilteredRows;
  /** What was found, to be searched further; undefined where only similar rows were. */
  readonly exact: Searched | undefined;
}

/** So many rows are tested before the work may be interrupted: well under a millisecond. */
const STRIDE = 512;
/** For the state before a change, the one after it, and one computed ahead. */
const REMEMBERED = 3;

let known: readonly Known[] = [];
const searched = new WeakMap<readonly FoldedRow[], Searched>();

/** Filters at once. Pure but for the memory of the last results. */
export function filterRows(all: readonly FoldedRow[], filter: Filter): FilteredRows {
  const steps = filterSteps(all, filter);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** The same in small steps, for tables that are too long to be filtered between two keys. */
export function* filterSteps(
  all: readonly FoldedRow[],
  filter: Filter,
): Generator<undefined, FilteredRows> {
  if (filter.terms.length === 0) return { rows: all, isSimilar: false };
  const before = known.find((one) => one.all === all && one.filter === filter);
  if (before !== undefined) return before.found;
  const wider = known.find(
    (one) => one.all === all && one.exact !== undefined && isNarrower(filter, one.filter),
  );
  const exact = yield* matching(wider?.exact ?? searchedIn(all), exactly(filter));
  const hasFound = exact.rows.length > 0 || !hasFuzzy(filter);
  const found = hasFound
    ? { rows: exact.rows, isSimilar: false }
    : asSimilar((yield* matching(searchedIn(all), filter)).rows);
  const result = { all, filter, found, exact: hasFound ? exact : undefined };
  known = [result, ...known.slice(0, REMEMBERED - 1)];
  return found;
}

/** Does in small steps what the first filter would have to do before it finds anything. */
export function* prepareSteps(all: readonly FoldedRow[]): Generator<undefined, undefined> {
  const { rows, haystacks } = searchedIn(all);
  for (const [index, row] of rows.entries()) {
    haystacks[index] ??= haystackOf(row);
    if (index % STRIDE === 0) yield;
  }
  return undefined;
}

function searchedIn(all: readonly FoldedRow[]): Searched {
  let found = searched.get(all);
  if (found === undefined) {
    found = { rows: all, haystacks: Array.from<undefined>({ length: all.length }) };
    searched.set(all, found);
  }
  return found;
}

function* matching({ rows, haystacks }: Searched, filter: Filter): Generator<undefined, Searched> {
  const found: { rows: FoldedRow[]; haystacks: Haystack[] } = { rows: [], haystacks: [] };
  const asksForDevice = filter.terms.some(
    (term) => term.kind !== 'word' && term.field.toLowerCase() === 'device',
  );
  for (const [index, row] of rows.entries()) {
    const haystack = (haystacks[index] ??= haystackOf(row));
    if (matchesRow(row, haystack, filter, asksForDevice)) {
      found.rows.push(row);
      found.haystacks.push(haystack);
    }
    if (index % STRIDE === STRIDE - 1) yield;
  }
  return found;
}

function haystackOf({ record, devices }: FoldedRow): Haystack {
  return prepareHaystack(record, devices.map(({ name }) => name).join(' '));
}

function asSimilar(rows: readonly FoldedRow[]): FilteredRows {
  return { rows, isSimilar: rows.length > 0 };
}

function exactly({ terms }: Filter): Filter {
  return {
    terms: terms.map((term) => (term.kind === 'word' ? { ...term, isFuzzy: false } : term)),
  };
}

function hasFuzzy({ terms }: Filter): boolean {
  return terms.some((term) => term.kind === 'word' && term.isFuzzy);
}

/** Whether all that the filter can find is among what the other one has found: a letter more was typed. */
function isNarrower(filter: Filter, other: Filter): boolean {
  return other.terms.every((wide) =>
    filter.terms.some((term) =>
      term.kind === 'word'
        ? wide.kind === 'word' && term.text.includes(wide.text)
        : term.kind !== 'pattern' &&
          term.kind === wide.kind &&
          term.field === wide.field &&
          term.text === wide.text,
    ),
  );
}

/** A row matches when it does on one of its devices. */
function matchesRow(
  row: FoldedRow,
  haystack: Haystack,
  filter: Filter,
  asksForDevice: boolean,
): boolean {
  if (!asksForDevice) return matchesHaystack(filter, haystack);
  const { record, text } = haystack;
  return row.devices.some(({ name }) =>
    matchesHaystack(filter, { record, text, deviceName: name }),
  );
}
