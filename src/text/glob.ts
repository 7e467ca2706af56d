/** Whether a name matches `*` and `?` as in a shell; takes at most the product of both lengths. */
export function matchesGlob(text: string, glob: string): boolean {
  const [name, pattern] = [Array.from(text), Array.from(glob)];
  let [at, mark, back] = [0, 0, -1];
  let retry = 0;
  while (at < name.length) {
    if (mark < pattern.length && (pattern[mark] === '?' || pattern[mark] === name[at])) {
      at += 1;
      mark += 1;
    } else if (pattern[mark] === '*') {
      back = mark;
      retry = at;
      mark += 1;
    } else if (back >= 0) {
      retry += 1;
      at = retry;
      mark = back + 1;
    } else {
      return false;
    }
  }
  return pattern.slice(mark).every((sign) => sign === '*');
}
