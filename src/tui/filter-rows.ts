import { matchesHaystack, prepareHaystack, type Filter, type Haystack } from '../fleet/filter.ts';
import type { FoldedRow } from '../fleet/fold.ts';

/** The rows that a filter leaves, in their order. */
export interface FilteredRows {
  readonly rows: readonly FoldedRow[];
  /** No record holds the words of the filter as they are typed: these look like them. */
  readonly isSimilar: boolean;
}

interface Known {
  readonly all: readonly FoldedRow[];
  readonly filter: Filter;
  readonly found: FilteredRows;
}

/** So many rows are tested before the work may be interrupted: well under a millisecond. */
const STRIDE = 512;
/** For the state before a change, the one after it, and one computed ahead. */
const REMEMBERED = 3;

let known: readonly Known[] = [];
const haystacks = new WeakMap<FoldedRow, Haystack>();

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
    (one) => one.all === all && !one.found.isSimilar && isNarrower(filter, one.filter),
  );
  const exact = yield* matching(wider?.found.rows ?? all, exactly(filter));
  const found =
    exact.length > 0 || !hasFuzzy(filter)
      ? { rows: exact, isSimilar: false }
      : asSimilar(yield* matching(all, filter));
  known = [{ all, filter, found }, ...known.slice(0, REMEMBERED - 1)];
  return found;
}

function* matching(
  rows: readonly FoldedRow[],
  filter: Filter,
): Generator<undefined, readonly FoldedRow[]> {
  const found: FoldedRow[] = [];
  const asksForDevice = filter.terms.some(
    (term) => term.kind !== 'word' && term.field.toLowerCase() === 'device',
  );
  for (let start = 0; start < rows.length; start += STRIDE) {
    for (const row of rows.slice(start, start + STRIDE)) {
      if (matchesRow(row, filter, asksForDevice)) found.push(row);
    }
    yield;
  }
  return found;
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
function matchesRow(row: FoldedRow, filter: Filter, asksForDevice: boolean): boolean {
  let haystack = haystacks.get(row);
  if (haystack === undefined) {
    haystack = prepareHaystack(row.record, row.devices.map(({ name }) => name).join(' '));
    haystacks.set(row, haystack);
  }
  if (!asksForDevice) return matchesHaystack(filter, haystack);
  const { record, text } = haystack;
  return row.devices.some(({ name }) =>
    matchesHaystack(filter, { record, text, deviceName: name }),
  );
}
