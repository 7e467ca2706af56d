import { JsonFailure, parseJson, parseStrictJson } from '../../device/json.ts';
import type { Value } from '../../device/record.ts';
import { UsageError } from '../../errors.ts';
import { YamlSource } from '../../yaml-source.ts';
import { jsonOffset } from './json-offset.ts';
import { readCsvRecords } from './read-csv.ts';
import { readRecordValues } from './read-values.ts';
import { formatOfFile, type RecordFormat } from './record-format.ts';
import { lineAndColumn, Problems, type RecordFile, type Rename } from './record-file.ts';

/**
 * Reads the records of a file: CSV, JSON, JSON lines or YAML, by its name, else by its look. Throws a
 * `UsageError` that says `file:line:column`, of up to twenty mistakes at once.
 */
export function readRecordFile(text: string, name: string, rename: Rename): RecordFile {
  if (text.includes('\0')) {
    throw new UsageError(`${name} is no text in UTF-8 (UTF-16, perhaps): save it in that encoding`);
  }
  const problems = new Problems();
  const file = readAs(formatOfFile(name) ?? formatOfText(text), text, name, rename, problems);
  problems.throwAny();
  if (file.rows.length === 0 && file.missing.length === 0) {
    throw new UsageError(`${name} has no records`);
  }
  return file;
}

function formatOfText(text: string): RecordFormat {
  const start = text.replace(/^\ufeff/, '').trimStart();
  if (start.startsWith('[')) return 'json';
  const [line = ''] = start.split('\n', 1);
  if (start.startsWith('{')) return isJson(line) ? 'jsonl' : 'json';
  return /^(?:#|---|- |\w+: |\w+:$)/.test(line) ? 'yaml' : 'csv';
}

function isJson(line: string): boolean {
  try {
    const value = parseJson(line);
    return !(typeof value === 'object' && value !== null && 'devices' in value);
  } catch (error) {
    if (error instanceof JsonFailure) return false;
    throw error;
  }
}

function readAs(
  format: RecordFormat,
  text: string,
  name: string,
  rename: Rename,
  problems: Problems,
): RecordFile {
  switch (format) {
    case 'csv':
      return readCsvRecords(text, name, rename, problems);
    case 'json':
      return readRecordValues(jsonIn(text, name), name, rename, problems, (path) => {
        return `${name}:${lineAndColumn(text, jsonOffset(text, path))}`;
      });
    case 'jsonl':
      return readLines(text, name, rename, problems);
    case 'yaml': {
      const source = new YamlSource(text, name, (message) => new UsageError(message));
      // Of the kinds of values by now; undefined only where the file is empty.
      const data = (source.data({ readsScalars: true }) ?? []) as Value;
      return readRecordValues(data, name, rename, problems, (path) => source.place(path));
    }
  }
}

/** Each line is a record by itself. */
function readLines(text: string, name: string, rename: Rename, problems: Problems): RecordFile {
  const values: Value[] = [];
  const lines: { text: string; number: number }[] = [];
  for (const [index, line] of text
    .replace(/^\ufeff/, '')
    .split('\n')
    .entries()) {
    if (line.trim() === '') continue;
    try {
      values.push(parseStrictJson(line));
      lines.push({ text: line, number: index + 1 });
    } catch (error) {
      if (!(error instanceof JsonFailure)) throw error;
      problems.add(() => `${name}:${index + 1}:${failureOffset(error, line) + 1}`, error.message);
    }
  }
  return readRecordValues(values, name, rename, problems, ([index, ...path]) => {
    const line = lines[Number(index)];
    return `${name}:${line?.number ?? 1}:${jsonOffset(line?.text ?? '', path) + 1}`;
  });
}

function jsonIn(text: string, name: string): Value {
  try {
    return parseStrictJson(text);
  } catch (error) {
    if (!(error instanceof JsonFailure)) throw error;
    const place = lineAndColumn(text, failureOffset(error, text));
    throw new UsageError(`${name}:${place}: ${error.message}`, { cause: error });
  }
}

/** Where the JSON is wrong; where the parser gave up, as it says in its message, at the end where it does not. */
function failureOffset({ cause, offset }: JsonFailure, text: string): number {
  if (offset !== undefined) return offset;
  const message = cause instanceof Error ? cause.message : '';
  const [, position] = /at position (\d+)/.exec(message) ?? [];
  return position === undefined ? text.trimEnd().length : Number(position);
}
