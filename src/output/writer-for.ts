import type { Format } from '../shell/grammar/options.ts';
import { quickWriter } from './quick-writer.ts';
import type { Streams, Writer } from './streams.ts';
import type { Output } from '../shell/output.ts';

/** What makes writers of a format; the library that a format needs is loaded when it is asked for. */
export async function writerFor(format: Format): Promise<(streams: Streams) => Writer> {
  if (format === 'csv') return (await import('./csv-writer.ts')).csvWriter;
  if (format === 'yaml') return (await import('./yaml-writer.ts')).yamlWriter;
  return (streams) => quickWriter(format, streams);
}

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
