import { expect, test } from 'vitest';
import { UsageError } from '../../src/errors.ts';
import { createStyle, errorLines } from '../../src/output/streams.ts';

test('of a word as long as a book a message shows the beginning', () => {
  const [line = ''] = errorLines(
    new UsageError(`no device "${'x'.repeat(65_000)}" here`),
    createStyle(false),
  );
  expect(line).toMatch(/^error: no device "x{199}… here$/);
});
