import type { Format } from '../shell/options.ts';
import { isQuick, quickWriter } from './quick-writer.ts';
import type { Streams, Writer } from './streams.ts';

/** What makes writers of a format; the libraries that some formats need are loaded when one is asked for. */
export async function writerFor(format: Format): Promise<(streams: Streams) => Writer> {
  if (isQuick(format)) return (streams) => quickWriter(format, streams);
  const { createWriter } = await import('./writer.ts');
  return (streams) => createWriter(format, streams);
}
