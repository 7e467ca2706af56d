import type { Format } from '../shell/grammar/options.ts';
import type { Output } from '../shell/output.ts';
import { quickWriter } from './quick-writer.ts';
import type { Streams, Writer } from './streams.ts';

/** The writer of a format; loads the library of a format only on demand. */
export async function writerFor(format: Format): Promise<(streams: Streams) => Writer> {
  if (format === 'csv') return (await import('./csv-writer.ts')).csvWriter;
  if (format === 'yaml') return (await import('./yaml-writer.ts')).yamlWriter;
  return (streams) => quickWriter(format, streams);
}

/** The outputs as standard output has them if it is a file. */
export async function renderedText(format: Format, outputs: readonly Output[]): Promise<string> {
  let text = '';
  const out = (part: string): void => void (text += part);
  const where = { isTty: false, isErrTty: false, columns: 80, color: false, quiet: true };
  const makeWriter = await writerFor(format);
  const writer = makeWriter({ out, err: () => undefined, ...where });
  for (const output of outputs) writer.write(output);
  writer.end();
  return text;
}
