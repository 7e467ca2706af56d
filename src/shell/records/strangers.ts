import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { strangerNote } from '../../change/record-file/baseline.ts';
import { keyOfRow } from '../../change/record-file/csv-cell.ts';
import type { RecordFile } from '../../change/record-file/record-file.ts';
import { type NamedDevice, ScopedRows } from '../../change/record-file/scopes.ts';
import { DevshError } from '../../errors.ts';
import { readUserFile } from '../../os/user-file.ts';
import type { Services } from '../services.ts';
import { baselineFor, configuredBaseline } from './baseline-file.ts';

/** Which records the file of the setting `baseline` does not have. */
export interface Strangers {
  readonly resource: string;
  /** Why a record is a stranger; undefined if the file has it, or has nothing for this device. */
  readonly reason: (device: string, keyField: string, key: string) => string | undefined;
}

/** Looks for a change of the file; resolves to undefined if nothing changed. Throws if it is no baseline. */
export function strangersReader(
  services: Services,
  deviceNamed: (name: string) => NamedDevice | undefined,
): () => Promise<{ strangers: Strangers | undefined } | undefined> {
  let seen: string | undefined;
  return async () => {
    const path = configuredBaseline(services);
    const facts = path === undefined ? undefined : await stat(path).catch(() => undefined);
    const version = [path, facts?.mtimeMs, facts?.size, facts?.ino].join();
    if (version === seen) return undefined;
    const isFirst = seen === undefined;
    seen = version;
    if (path === undefined) return isFirst ? undefined : { strangers: undefined };
    const file = baselineFor(undefined, await readUserFile(path), basename(path));
    return { strangers: strangersTo(file, deviceNamed) };
  };
}

export function strangersTo(
  file: RecordFile,
  deviceNamed: (name: string) => NamedDevice | undefined,
): Strangers {
  const scoped = new ScopedRows(file.rows);
  const known = new Map<string, ReadonlySet<string>>();
  const keysOf = (name: string, keyField: string): ReadonlySet<string> => {
    const id = `${name}\n${keyField}`;
    const device = deviceNamed(name);
    const keyOf = (row: RecordFile['rows'][number]): string =>
      keyOfRow(row, keyField, file.isCells);
    const keys =
      known.get(id) ?? new Set(device === undefined ? [] : scoped.of(device, keyOf).map(keyOf));
    if (device !== undefined) known.set(id, keys);
    return keys;
  };
  const notes = new Map<string, string | undefined>();
  return {
    resource: file.resource ?? 'user',
    reason(device, keyField, key) {
      const keys = keysOf(device, keyField);
      if (keys.size === 0 || keys.has(key)) return undefined;
      const id = `${device}\n${key}`;
      const note = notes.has(id) ? notes.get(id) : strangerNote(key, keys);
      notes.set(id, note);
      return `not in ${file.name}${note === undefined ? '' : `, ${note}`}`;
    },
  };
}

export function strangersProblem(error: unknown): string {
  if (!(error instanceof DevshError)) throw error;
  return `the screen marks no strangers: ${error.message}`;
}
