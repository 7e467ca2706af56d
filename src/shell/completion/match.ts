/** Where the letters that were typed stand in a candidate, in UTF-16 units from 0. */
export interface Match {
  /** How well it fits, less is better: as typed, so begun, in it, its letters in that order. */
  readonly tier: 0 | 1 | 2 | 3;
  readonly letters: readonly number[];
}

/** How what was typed fits a candidate; undefined: not at all. Case is ignored. */
export function matchOf(typed: string, text: string): Match | undefined {
  const wanted = typed.toLowerCase();
  const held = text.toLowerCase();
  // Few letters get longer in lower case; then no place in it is one in the text.
  const isSameLength = held.length === text.length;
  const at = held.indexOf(wanted);
  if (at >= 0) {
    const letters = isSameLength ? Array.from(wanted, (_, index) => at + index) : [];
    return { tier: at > 0 ? 2 : held === wanted ? 0 : 1, letters };
  }
  const letters = subsequence(wanted, held);
  // What does not even begin where a word does is no resemblance.
  if (letters === undefined || !isWordStart(held, letters[0] ?? 0)) return undefined;
  return { tier: 3, letters: isSameLength ? letters : [] };
}

/** Where the letters of `wanted` stand in `held`, one after the other; at the starts of words if they can. */
function subsequence(wanted: string, held: string): number[] | undefined {
  const letters: number[] = [];
  let from = 0;
  for (let index = 0; index < wanted.length; index += 1) {
    const letter = wanted.charAt(index);
    const next = held.indexOf(letter, from);
    if (next < 0) return undefined;
    const start = wordStart(held, letter, next);
    const isInReach = start !== undefined && hasAll(wanted.slice(index + 1), held, start + 1);
    const at = next === from || !isInReach ? next : start;
    letters.push(at);
    from = at + 1;
  }
  return letters;
}

function wordStart(held: string, letter: string, from: number): number | undefined {
  for (let at = held.indexOf(letter, from); at >= 0; at = held.indexOf(letter, at + 1)) {
    if (isWordStart(held, at)) return at;
  }
  return undefined;
}

function isWordStart(held: string, at: number): boolean {
  return at === 0 || /[^\p{L}\p{N}]/u.test(held.charAt(at - 1));
}

function hasAll(wanted: string, held: string, from: number): boolean {
  let at = from;
  for (const letter of wanted.split('')) {
    const next = held.indexOf(letter, at);
    if (next < 0) return false;
    at = next + 1;
  }
  return true;
}
