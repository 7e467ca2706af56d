import { documentOf } from './document.ts';
import { gathering, silenceable } from './quick-writer.ts';
import { remarkWriter } from './remark-text.ts';
import type { Streams, Writer } from './streams.ts';
import { toYaml } from './yaml.ts';

export function yamlWriter(streams: Streams): Writer {
  const finished = gathering((outputs, error) => {
    streams.out(toYaml(documentOf(outputs, error)));
  });
  return silenceable(finished, remarkWriter(streams));
}
