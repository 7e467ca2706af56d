import { unmistakable } from '../look-alike.ts';

/** What a step is about, in words: `user bob`, or `system` where there is one object only. */
export function recordName({
  resource,
  key,
}: {
  readonly resource: string;
  readonly key: string;
}): string {
  return key === '' ? resource : `${resource} ${quotedKey(key)}`;
}

/** In quotes where blanks would not be seen: at its ends, or two in a row. No two keys become the same. */
export function quotedKey(key: string): string {
  const shown = unmistakable(key);
  return /^\s|\s$|\s\s/.test(key) ? `'${shown}'` : shown;
}
