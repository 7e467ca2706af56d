import { extname, join } from 'node:path';
import {
  formatOfFile,
  type RecordFormat,
  secretFields,
  withoutSecrets,
} from '../../change/record-file/record-file.ts';
import { hasPositionalIds, isResourceName, keyFieldOf } from '../../device/profile.ts';
import { type DeviceRecord, valueText } from '../../device/record.ts';
import { fileExists, writeNewText, writeTextAtomically } from '../../os/files.ts';
import { RefusedError, UsageError } from '../../errors.ts';
import type { Refine } from '../../fleet/fleet.ts';
import type { Call } from '../command.ts';
import {
  checkFilter,
  filterOf,
  matching,
  type ReadList,
  readRecords,
  viewOf,
} from './read-records.ts';
import { type Output, type ReadOutput, warning, table, info } from '../output.ts';
import { quoteLine, quoteWord } from '../../text/words.ts';

type ExportCall = Call<'on' | 'output' | 'outputDir' | 'overwrite'>;

/** `export RESOURCE`: the records of all selected devices, to standard output or into files. */
export async function* exportRecords(call: ExportCall): AsyncGenerator<Output> {
  const { output, outputDir } = call.options;
  const perDevice = outputDir !== undefined;
  const target = output === '-' ? undefined : output;
  if (perDevice && output !== undefined) {
    throw new UsageError('either --output FILE, or --output-dir DIR');
  }
  const format = formatOf(call, target);
  const sessions = await call.sessions();
  const names = sessions.map(({ ref }) => ref.name);
  const paths = perDevice
    ? fileNames(names).map((name) => join(outputDir, `${name}.${format}`))
    : [];
  await refuseExisting(call, target === undefined ? paths : [target]);

  const reads = yield* readAll(call);
  yield* remarks(call, reads);
  yield* filterRemark(reads, format);
  if (target === undefined && !perDevice) {
    // Without `--format` the output would be a table.
    if (call.options.format === undefined) yield { kind: 'checkpoint', format };
    yield* reads;
    return;
  }
  const files = perDevice
    ? reads.map((read) => ({ path: paths[read.position ?? 0] ?? '', reads: [alone(read)] }))
    : [{ path: target ?? '', reads }];
  const answered = files.filter((file) => file.reads.some(({ outcome }) => outcome.ok));
  const { services } = call.shell;
  const written = answered.map(({ path }) => path);
  await refuseExisting(call, written);
  // A file that somebody creates at this moment is not replaced, either.
  const write = call.options.overwrite ? writeTextAtomically : writeNewText;
  for (const { path, reads: held } of answered) {
    await write(path, await services.render(format, held));
  }
  for (const { device, outcome } of reads) {
    if (!outcome.ok) yield { kind: 'error', device, error: outcome.error };
  }
  yield table(
    'files',
    ['file', 'records', 'devices'],
    answered.map(({ path, reads }) => ({
      file: path,
      records: reads.flatMap(({ outcome }) => (outcome.ok ? outcome.records : [])).length,
      devices: reads.flatMap(({ device, outcome }) => (outcome.ok ? [device.name] : [])),
    })),
    { hasSuccess: answered.length > 0 },
  );
}

/** Warns that a later `import --prune` would delete all records that the filter left out of the file. */
function* filterRemark([read]: readonly ReadOutput[], format: RecordFormat): Generator<Output> {
  const filter = read?.view.file?.filter;
  if (filter === undefined || format === 'json' || format === 'yaml') return;
  yield warning(
    `the file contains only records that match "${filter}", and ${format} cannot state that: never import it with --prune`,
  );
}

/** Marks the reading of a device that gets its own file: the name of the file names the device. */
function alone(read: ReadOutput): ReadOutput {
  return { ...read, view: { ...read.view, file: { ...read.view.file, isOneDevice: true } } };
}

async function* readAll(call: Call): AsyncGenerator<Output, ReadOutput[]> {
  const resource = call.args.optional('RESOURCE') ?? 'user';
  if (!isResourceName(resource)) {
    throw new UsageError(`"${resource}" is not the name of a resource; the filter follows it`, {
      column: call.args.words('RESOURCE')[0]?.start,
      suggestions: resource.includes('=') ? [`export user ${quoteWord(resource)}`] : [],
    });
  }
  const words = call.args.words('FILTER');
  const said = quoteLine(words.map(({ text }) => text).filter((text) => text.trim() !== ''));
  const filter = said === '' ? undefined : filterOf(call, words);
  const view = { ...viewOf(call, resource, 'table'), file: said === '' ? {} : { filter: said } };
  const found: ReadOutput[] = [];
  const lists: ReadList[] = [];
  const refine: Refine = async (session, all) => {
    const matches = matching(filter, all, session.ref.name);
    const records = await session.inFull(call.access, resource, matches, call.io.signal);
    lists.push({ session, records: all });
    const { profile } = session;
    // The order of records may have a meaning if ids are positions.
    if (hasPositionalIds(profile)) return records;
    return inKeyOrder(records, keyFieldOf(profile, resource, records));
  };
  for await (const output of readRecords(call, view, undefined, refine)) {
    if (output.kind === 'read') found.push(output);
    else yield output;
  }
  yield* checkFilter(call, await call.sessions(), { resource, filter, sorted: [], reads: lists });
  return found.sort((a, b) => (a.position ?? 0) - (b.position ?? 0));
}

/** Sorts by key, so that the files of two exports can be compared. */
function inKeyOrder(records: readonly DeviceRecord[], keyField: string): readonly DeviceRecord[] {
  return records
    .map((record) => ({ record, key: valueText(record[keyField]) }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ record }) => record);
}

/** Removes the secrets from the records, and warns which fields had one. */
function* remarks(call: ExportCall, reads: ReadOutput[]): Generator<Output> {
  const fields = new Set<string>();
  for (const [index, read] of reads.entries()) {
    if (!read.outcome.ok) continue;
    for (const field of secretFields(read.outcome.records)) fields.add(field);
    const records = read.outcome.records.map(withoutSecrets);
    reads[index] = { ...read, outcome: { ok: true, records } };
  }
  if (fields.size > 0) {
    yield info(`left out as secret: ${[...fields].join(', ')}`);
  }
  const { output, outputDir } = call.options;
  if (call.io.isOnScreen === true && output === undefined && outputDir === undefined) {
    yield info('--output FILE writes this to a file');
  }
}

function formatOf(call: Call, path: string | undefined): RecordFormat {
  const { format } = call.options;
  if (format === 'table') {
    throw new UsageError('export writes csv, json, jsonl or yaml: a table has no exact values');
  }
  if (format !== undefined) return format;
  if (path === undefined || extname(path) === '') return 'csv';
  const byName = formatOfFile(path);
  if (byName !== undefined) return byName;
  throw new UsageError(`"${path}" does not end with .csv, .json, .jsonl or .yaml: add --format`);
}

async function refuseExisting(call: ExportCall, paths: readonly string[]): Promise<void> {
  if (call.options.overwrite) return;
  const exist = await Promise.all(paths.map(fileExists));
  const there = paths.filter((_, index) => exist[index] === true);
  const [first] = there;
  if (first === undefined) return;
  const others = there.length > 1 ? ` and ${there.length - 1} more` : '';
  throw new RefusedError(
    `${first}${others} already exists: --overwrite replaces it; nothing was written`,
  );
}

/** File systems allow 255 bytes. The draft of a file has a longer name than the file. */
const MAX_NAME = 150;
/** Matches names that Windows reserves for devices, with any ending. */
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/** Makes names that are safe on every file system. Equal names get a number. */
export function fileNames(names: readonly string[]): string[] {
  const used = new Set<string>();
  return names.map((name) => {
    const safe = name
      .replace(/[^\w.-]/g, '_')
      .replace(/^\.+|\.$/g, '_')
      .slice(0, MAX_NAME);
    const plain = RESERVED.test(safe) ? `_${safe}` : safe;
    let unique = plain;
    for (let number = 2; used.has(unique.toLowerCase()); number += 1) unique = `${plain}-${number}`;
    used.add(unique.toLowerCase());
    return unique;
  });
}
