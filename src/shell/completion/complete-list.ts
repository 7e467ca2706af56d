import type { Candidate } from '../grammar/spec.ts';

/**
 * Candidates for the last item of a list in one word (`lang,user`): each with the items before it, and
 * none of those again.
 */
export function completeList(
  typed: string,
  separator: RegExp,
  candidates: (given: readonly string[]) => readonly Candidate[],
): Candidate[] {
  const [, start = ''] = new RegExp(`^(.*${separator.source})`, 's').exec(typed) ?? [];
  const given = start.split(separator).filter((item) => item !== '');
  // `--sort -field`: downwards.
  const sign = /^[-!]/.exec(typed.slice(start.length))?.[0] ?? '';
  return candidates(given)
    .filter(({ text }) => !given.includes(text) && !given.includes(`-${text}`))
    .map((candidate) => ({ ...candidate, text: start + sign + candidate.text }));
}
