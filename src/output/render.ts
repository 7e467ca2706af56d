import type { Format } from '../shell/grammar/options.ts';
import type { Output } from '../shell/output.ts';
import { writerFor } from './writer-for.ts';

/** The text that these outputs are on standard output, where that is a file. */
export async function renderedText(format: Format, outputs: readonly Output[]): Promise<string> {
  const parts: string[] = [];
  const makeWriter = await writerFor(format);
  const writer = makeWriter({
    out: (text) => {
      parts.push(text);
    },
    err: () => undefined,
    isTty: false,
    isErrTty: false,
    columns: 80,
    color: false,
    quiet: true,
  });
  for (const output of outputs) writer.write(output);
  writer.end();
  return parts.join('');
}
