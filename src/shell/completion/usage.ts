import { parseLine } from '../grammar/parse.ts';

/** How often, and how lately, words were used; 0 for one that never was. */
export type Usage = (command: string, word: string) => number;

/** Lines older than these say nothing of what is wanted now. */
const LINES = 1_000;

/** After so many lines, a use counts half. */
const HALF_LIFE = 100;

/** What the lines of the history, oldest first, tell of the words behind each command ('' for itself). */
export function usageOf(history: readonly string[]): Usage {
  const weights = new Map<string, number>();
  const add = (command: string, word: string, weight: number): void => {
    const key = `${command}\n${word}`;
    weights.set(key, (weights.get(key) ?? 0) + weight);
  };
  for (const [age, line] of history.slice(-LINES).reverse().entries()) {
    const weight = 0.5 ** (age / HALF_LIFE);
    const [first, ...rest] = parseLine(line).words;
    if (first === undefined) continue;
    add('', first.text, weight);
    for (const { text } of rest) {
      add(first.text, text, weight);
      const [field] = /^[^=]+=(?=.)/s.exec(text) ?? [];
      if (field !== undefined) add(first.text, field, weight);
    }
  }
  return (command, word) => weights.get(`${command}\n${word}`) ?? 0;
}
