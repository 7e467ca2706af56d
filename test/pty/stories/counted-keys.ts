import { expect } from 'vitest';
import type { PtyProgram } from '../harness.ts';

/** Plays a story, which fails with its first key beyond `most`. */
export interface CountedKeys {
  /** Each name is one key, each digit of an answer, too. */
  press(...names: readonly string[]): void;
  /** A value that the user has to type anyway: its letters do not count. */
  value(text: string): void;
}

export function countedKeys(program: PtyProgram, most: number): CountedKeys {
  const pressed: string[] = [];
  return {
    press(...names) {
      pressed.push(...names);
      expect(pressed.length, `keys of the story: ${pressed.join(' ')}`).toBeLessThanOrEqual(most);
      for (const name of names) program.press(name);
    },
    value(text) {
      program.type(text);
    },
  };
}
