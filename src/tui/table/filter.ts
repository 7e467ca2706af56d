import {
  type Filter,
  type Haystack,
  matchesHaystack,
  prepareHaystack,
} from '../../fleet/filter.ts';
import type { FoldedRow } from '../../fleet/fold.ts';

/** The rows that match a filter, in their order. */
interface FilteredRows {
  readonly rows: readonly FoldedRow[];
  /** Whether no record has the words as typed, so that these rows are only similar. */
  readonly isSimilar: boolean;
}

interface Known {
  readonly all: readonly FoldedRow[];
  readonly filter: Filter;
  readonly found: FilteredRows;
}

/** The rows that one step tests in well under a millisecond. A row with long values counts as several. */
const STRIDE = 512;
const CHARACTERS_OF_ROW = 256;
/** Results are kept for the state before a change, for the one after it, and for one computed in advance. */
const REMEMBERED = 3;

let known: readonly Known[] = [];
/** The searchable texts of rows, by index. Each is made when its row is first tested. */
const searched = new WeakMap<readonly FoldedRow[], Haystack[]>();

/** Filters at once. Pure except for the cache of the last results. */
export function filterRows(all: readonly FoldedRow[], filter: Filter): FilteredRows {
  const steps = filterSteps(all, filter);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Filters in small steps, for tables that are too long to filter between two keys. */
export function* filterSteps(
  all: readonly FoldedRow[],
  filter: Filter,
): Generator<undefined, FilteredRows> {
  if (filter.terms.length === 0) return { rows: all, isSimilar: false };
  const before = known.find((one) => one.all === all && one.filter === filter);
  if (before !== undefined) return before.found;
  const exact = yield* matching(all, exactly(filter));
  const hasFuzzy = filter.terms.some((term) => term.kind === 'word' && term.isFuzzy);
  const isExact = exact.length > 0 || !hasFuzzy;
  const rows = isExact ? exact : yield* matching(all, filter);
  const found = { rows, isSimilar: !isExact && rows.length > 0 };
  known = [{ all, filter, found }, ...known.slice(0, REMEMBERED - 1)];
  return found;
}

function* matching(
  rows: readonly FoldedRow[],
  filter: Filter,
): Generator<undefined, readonly FoldedRow[]> {
  const found: FoldedRow[] = [];
  const haystacks = searched.get(rows) ?? [];
  searched.set(rows, haystacks);
  const asksForDevice = filter.terms.some(
    (term) => term.kind !== 'word' && term.field.toLowerCase() === 'device',
  );
  let done = 0;
  for (const [index, row] of rows.entries()) {
    const haystack = (haystacks[index] ??= prepareHaystack(
      row.record,
      row.devices.map(({ name }) => name).join(' '),
    ));
    done += 1 + Math.floor(haystack.text.length / CHARACTERS_OF_ROW);
    if (matchesRow(row, haystack, filter, asksForDevice)) found.push(row);
    for (; done >= STRIDE; done -= STRIDE) yield;
  }
  return found;
}

function exactly({ terms }: Filter): Filter {
  return {
    terms: terms.map((term) => (term.kind === 'word' ? { ...term, isFuzzy: false } : term)),
  };
}

/** Whether a row matches on one of its devices. */
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
