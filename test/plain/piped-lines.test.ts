import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { pipedLines } from '../../src/plain/repl.ts';

async function linesOf(chunks: Iterable<Buffer | string>): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of pipedLines(Readable.from(chunks))) lines.push(line);
  return lines;
}

test('lines are the same however they are cut into pieces', async () => {
  const text = 'user list\r\nüser\n\nquit\rlast';
  const bytes = [...Buffer.from(text)].map((byte) => Buffer.from([byte]));
  const lines = ['user list', 'üser', '', 'quit', 'last'];
  expect(await linesOf([text])).toEqual(lines);
  expect(await linesOf(bytes)).toEqual(lines);
});

test('an input without line ends is refused before it fills the memory', async () => {
  function* zeros(): Generator<Buffer> {
    for (;;) yield Buffer.alloc(1024 * 1024);
  }
  await expect(linesOf(zeros())).rejects.toThrow('a line is longer than 8 MiB');
});
