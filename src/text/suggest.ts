const MOST_SUGGESTIONS = 3;
/** The least length of a word that begins a longer typed one: `lang` for `language`. */
const SHORTEST_BEGINNING = 4;

/** At most three, best first: within one to three typing errors, or the shorter one begins the longer one. Ignores case. */
export function suggest(word: string, candidates: Iterable<string>): string[] {
  const wanted = word.toLowerCase();
  if (wanted === '') return [];
  const allowed = wanted.length <= 3 ? 1 : wanted.length <= 7 ? 2 : 3;
  const ranked: { candidate: string; distance: number }[] = [];
  for (const candidate of new Set(candidates)) {
    const other = candidate.toLowerCase();
    const isBegun = other !== wanted && other.startsWith(wanted);
    const isBeginning = other.length >= SHORTEST_BEGINNING && wanted.startsWith(other);
    const isNear = !isBegun && Math.abs(other.length - wanted.length) <= allowed;
    const errors = isNear ? editDistance(wanted, other) : Infinity;
    const isTypo = errors <= allowed && errors < wanted.length;
    // A beginning is no typing error: it ranks after one wrong letter, at any length of the rest.
    if (isBegun || isBeginning) ranked.push({ candidate, distance: Math.min(errors, 1.5) });
    else if (isTypo) ranked.push({ candidate, distance: errors });
  }
  ranked.sort((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1));
  return ranked.slice(0, MOST_SUGGESTIONS).map(({ candidate }) => candidate);
}

/** `did you mean "viewer"?`, or else all: `the keys are name, address`. */
export function nearOrAll(word: string, candidates: readonly string[], noun: string): string {
  const [nearest] = suggest(word, candidates);
  return nearest === undefined
    ? `the ${noun} are ${candidates.join(', ')}`
    : `did you mean "${nearest}"?`;
}

/** `; did you mean viewer?`, or nothing. */
export function nearHint(word: string, candidates: Iterable<string>): string {
  const [nearest] = suggest(word, candidates);
  return nearest === undefined ? '' : `; did you mean ${nearest}?`;
}

/** How many letters to insert, drop, change or swap with a neighbour (optimal string alignment). */
export function editDistance(a: string, b: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const isEqual = a[row - 1] === b[column - 1];
      let distance = Math.min(
        at(previous, column) + 1,
        at(current, column - 1) + 1,
        at(previous, column - 1) + (isEqual ? 0 : 1),
      );
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        distance = Math.min(distance, at(beforePrevious, column - 2) + 1);
      }
      current.push(distance);
    }
    beforePrevious = previous;
    previous = current;
  }
  return at(previous, b.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Infinity;
}
