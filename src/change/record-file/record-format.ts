export type RecordFormat = 'csv' | 'json' | 'jsonl' | 'yaml';

/** The format of a file of records, by the end of its name. */
export function formatOfFile(name: string): RecordFormat | undefined {
  const [, end = ''] = /\.(\w+)$/.exec(name.toLowerCase()) ?? [];
  switch (end) {
    case 'csv':
    case 'tsv':
      return 'csv';
    case 'json':
      return 'json';
    case 'jsonl':
    case 'ndjson':
      return 'jsonl';
    case 'yaml':
    case 'yml':
      return 'yaml';
    default:
      return undefined;
  }
}
