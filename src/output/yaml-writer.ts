import { Document, Scalar, type ScalarTag, visit } from 'yaml';
import { documentOf } from './document.ts';
import { gathering, silenceable } from './quick-writer.ts';
import { remarkWriter } from './text-writer.ts';
import type { Streams, Writer } from './streams.ts';
import { ExactNumber, isList, type JsonValue } from '../device/record.ts';
import { hasUnsafe, replaceUnsafe } from '../text/visible.ts';

export function yamlWriter(streams: Streams): Writer {
  const finished = gathering((outputs, error) => streams.out(toYaml(documentOf(outputs, error))));
  return silenceable(finished, remarkWriter(streams));
}

/** The JSON document as YAML: exact integers, invisible characters as `\u` escapes. */
export function toYaml(value: JsonValue): string {
  const document = new Document(plain(value), {
    aliasDuplicateObjects: false,
    customTags: [EXACT_NUMBER],
  });
  visit(document, {
    Scalar(_, node) {
      if (typeof node.value !== 'string') return;
      // `<<` without quotes merges maps.
      if (node.value === '<<' || hasUnsafe(node.value)) node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  const text = document.toString({ lineWidth: 0 });
  // Everything unsafe is now in double quotes, where YAML allows these escapes.
  return text
    .split('\n')
    .map((line) => replaceUnsafe(line, escaped))
    .join('\n');
}

const EXACT_NUMBER: ScalarTag = {
  tag: 'tag:yaml.org,2002:float',
  default: true,
  identify: (value) => value instanceof ExactNumber,
  resolve: (text) => text,
  stringify: ({ value }) => String(value),
};

function plain(value: JsonValue): unknown {
  // JSON has no -0 either, unless the device wrote it.
  if (value === 0) return 0;
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return value;
  if (isList(value)) return value.map(plain);
  return new Map(
    Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .map(([field, item]) => [field, plain(item)]),
  );
}

function escaped(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
  return code.length > 4 ? `\\U${code.padStart(8, '0')}` : `\\u${code.padStart(4, '0')}`;
}
