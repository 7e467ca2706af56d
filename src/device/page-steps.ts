import type { PageMarks } from './page-marks.ts';
import type { PageStep } from './learned-schema.ts';
import type { ListFacts } from './profile.ts';

const NUMBERED: readonly PageStep[] = [
  { kind: 'page', parameter: 'current', size: 'rowCount' },
  { kind: 'page', parameter: 'page' },
];

const COUNTED: readonly PageStep[] = [
  { kind: 'offset', parameter: 'offset', size: 'limit' },
  { kind: 'offset', parameter: 'start', size: 'limit' },
];

const SIZES = ['page_size', 'pageSize', 'per_page', 'perPage', 'limit'];

/**
 * The ways worth trying, most likely first: what the user configured, or what the numbers in the
 * answer are called, then what is usual. What worked the last time goes first.
 */
export function pageSteps(
  facts: ListFacts,
  { numbers = {} }: PageMarks,
  worked?: PageStep,
): readonly PageStep[] {
  const { paging, parameter, sizeParameter } = facts;
  if (paging === 'none' || paging === 'next') return [];
  const usual = paging === 'page' ? NUMBERED : paging === 'offset' ? COUNTED : undefined;
  if (usual !== undefined && parameter !== undefined) {
    const kind = paging === 'page' ? 'page' : 'offset';
    return [{ kind, parameter, ...(sizeParameter !== undefined && { size: sizeParameter }) }];
  }
  const size = SIZES.find((name) => name in numbers);
  const known = (usual ?? [...NUMBERED, ...COUNTED]).map((step) => {
    const isPlainPage = step.kind === 'page' && step.size === undefined;
    return isPlainPage && size !== undefined ? { ...step, size } : step;
  });
  const named = known.filter(({ parameter: name }) => name in numbers);
  const guessed = (usual ?? [...COUNTED.slice(0, 1), ...NUMBERED]).flatMap(
    (step) => known.find(({ parameter: name }) => name === step.parameter) ?? [],
  );
  const first = known.filter(
    ({ parameter: name, size: own }) => name === worked?.parameter && own === worked.size,
  );
  return [...new Set([...first, ...named, ...guessed])];
}

/**
 * Path and query of a further page.
 *
 * @param index 1 for the page after the first
 * @param sizeOfFirst how many records the first page had
 */
export function stepPath(
  path: string,
  step: PageStep,
  { index, read, sizeOfFirst }: { index: number; read: number; sizeOfFirst: number },
): string {
  const url = new URL(path, 'https://device.invalid');
  const place = step.kind === 'page' ? index + 1 : read;
  url.searchParams.set(step.parameter, String(place));
  if (step.size !== undefined) url.searchParams.set(step.size, String(sizeOfFirst));
  return url.pathname + url.search;
}

/** In words: `by the next link`, `by ?offset=&limit=`. */
export function pagingText(paging: 'next' | PageStep): string {
  if (paging === 'next') return 'by the next link';
  return `by ?${paging.parameter}=${paging.size === undefined ? '' : `&${paging.size}=`}`;
}
