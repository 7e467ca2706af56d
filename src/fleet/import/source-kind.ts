import { extname } from 'node:path';

export const SOURCE_KINDS = ['csv', 'ssh', 'ansible', 'netbox', 'devices'] as const;
export type SourceKind = (typeof SOURCE_KINDS)[number];

/** What a source is, by its name and its look; undefined when neither tells. */
export function kindOfSource(name: string, text: string): SourceKind | undefined {
  const start = text.replace(/^\ufeff/, '').trimStart();
  switch (extname(name).toLowerCase()) {
    case '.csv':
    case '.tsv':
      return 'csv';
    case '.json':
      return kindOfJson(start);
    case '.ini':
      return 'ansible';
    case '.yaml':
    case '.yml':
      return kindOfYaml(start);
  }
  if (/^[[{]\s*(?:["\]}{]|$)/.test(start)) return kindOfJson(start);
  if (/^[ \t]*(?:Host|Match|Include)[\s=]/im.test(start)) return 'ssh';
  if (/^\[[\w.:-]+\][ \t]*\r?$/m.test(start)) return 'ansible';
  const [line = ''] = start.split('\n', 1);
  if (/^[\w"' -]+(?:[,;\t][\w"' -]*)+\r?$/.test(line) && /\bname\b|device/i.test(line))
    return 'csv';
  return kindOfYaml(start);
}

/** By the words that only one of them has; whether it is JSON is found when it is read. */
function kindOfJson(text: string): SourceKind {
  if (/^\{\s*"count"\s*:/.test(text) || /^\{[^{[]*"results"\s*:\s*\[/.test(text)) return 'netbox';
  if (text.startsWith('[') || /^\{[^{[]*"inventory"\s*:\s*\[/.test(text)) return 'devices';
  return /^\{[^{[]*"devices"\s*:\s*\[/.test(text) ? 'devices' : 'ansible';
}

function kindOfYaml(text: string): SourceKind | undefined {
  if (/^devices\s*:/m.test(text)) return 'devices';
  return /^[\w.-]+[ \t]*:[ \t]*(?:#.*)?(?:\r?\n[ \t]*){1,20}[ \t](?:hosts|children|vars)[ \t]*:/m.test(
    text,
  )
    ? 'ansible'
    : undefined;
}
