import type { Format } from '../shell/options.ts';
import type { Output } from '../shell/output.ts';
import { createWriter } from './writer.ts';

/** The text that these outputs are on standard output, where that is a file. */
export function renderedText(format: Format, outputs: readonly Output[]): string {
  const parts: string[] = [];
  const writer = createWriter(format, {
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
