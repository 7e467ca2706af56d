import type { Format } from '../shell/grammar/options.ts';
import { quickWriter } from './quick-writer.ts';
import type { Streams, Writer } from './streams.ts';

/** What makes writers of a format; the library that a format needs is loaded when it is asked for. */
export async function writerFor(format: Format): Promise<(streams: Streams) => Writer> {
  if (format === 'csv') return (await import('./csv-writer.ts')).csvWriter;
  if (format === 'yaml') return (await import('./yaml-writer.ts')).yamlWriter;
  return (streams) => quickWriter(format, streams);
}
