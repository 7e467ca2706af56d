import { expect, test } from 'vitest';
import { awaitingText } from '../../src/shell/output.ts';

test.each([
  [0, 'reading'],
  [1, 'reading: waiting for fw1'],
  [2, 'reading: waiting for fw1, fw2'],
  [5_000, 'reading: waiting for fw1, fw2 and 4998 more'],
])('progress names two of %i devices, and reads no more of their names', (count, text) => {
  let read = 0;
  function* names(): Generator<string> {
    for (let at = 1; at <= count; at += 1) {
      read += 1;
      yield `fw${at}`;
    }
  }
  expect(awaitingText('reading', names(), count)).toBe(text);
  expect(read).toBe(Math.min(count, 2));
});
