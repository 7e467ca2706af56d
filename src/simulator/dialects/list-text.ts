import type { DeviceRecord, Value } from '../../device/record.ts';

/** Lists of devices that know no JSON. What is nested is written with dots: `ipv4.mode`. */

/** `key=value` lines, an empty line between records; the items of a list are joined by commas. */
export function keyValueText(records: readonly DeviceRecord[]): string {
  const blocks = records.map((record) =>
    pairs(record).map(([name, texts]) => `${name}=${quoted(texts.join(','))}\n`),
  );
  return blocks.map((lines) => lines.join('')).join('\n');
}

/** One form (`a=b&c=d`) on each line; the items of a list repeat the name. */
export function formText(records: readonly DeviceRecord[]): string {
  const lines = records.map((record) => {
    const form = pairs(record).flatMap(([name, texts]) =>
      (texts.length === 0 ? [''] : texts).map((text): [string, string] => [name, text]),
    );
    return `${new URLSearchParams(form).toString()}\n`;
  });
  return lines.join('');
}

type Pair = readonly [name: string, texts: readonly string[]];

function pairs(record: DeviceRecord, prefix = ''): Pair[] {
  return Object.entries(record).flatMap(([field, value]) => {
    const name = `${prefix}${field}`;
    if (isNested(value)) return pairs(value, `${name}.`);
    return [[name, Array.isArray(value) ? value.map(textOf) : [textOf(value)]] as const];
  });
}

function isNested(value: Value): value is DeviceRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(value: Value): string {
  if (value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** In quotes only where the spaces would be lost; a line cannot hold another line. */
function quoted(text: string): string {
  const line = text.replaceAll(/[\r\n]+/g, ' ');
  return line === line.trim() && !line.startsWith('"') ? line : `"${line}"`;
}
