import { StringDecoder } from 'node:string_decoder';
import { UsageError } from '../errors.ts';

/** No command is so long; an input without line ends would fill the memory. */
const MAX_LINE_MEBIBYTES = 8;

/** The lines of an input that is no terminal, each as soon as it is there. Throws UsageError for one without end. */
export async function* pipedLines(input: AsyncIterable<Buffer | string>): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  for await (const chunk of input) {
    const lines = (rest + decoder.write(Buffer.from(chunk))).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    if (rest.length > MAX_LINE_MEBIBYTES * 1024 * 1024) {
      throw new UsageError(
        `cannot read standard input: a line is longer than ${MAX_LINE_MEBIBYTES} MiB`,
      );
    }
    yield* lines;
  }
  rest = (rest + decoder.end()).replace(/\r$/, '');
  if (rest !== '') yield rest;
}
