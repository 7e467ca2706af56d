import { JsonFailure, parseJson } from '../device/json.ts';
import type { DeviceRecord, Value } from '../device/record.ts';
import { parseChoice } from '../fleet/filter.ts';
import { UsageError } from '../errors.ts';
import { csvRows, widthProblem } from '../text/csv.ts';
import { nearOrAll } from '../text/suggest.ts';
import { YamlSource, type Path } from '../text/yaml-source.ts';
import type { Change, Target } from './change.ts';

const ACTIONS = ['add', 'set', 'delete'] as const;

const KEYS = {
  add: ['fields', 'key'],
  set: ['key', 'where', 'fields'],
  delete: ['key', 'where'],
} as const;

/**
 * Reads a change set in YAML or JSON: a list (or `changes:` with a list) of `{add: user, fields: {…}}`,
 * `{set: user, key: bob, fields: {…}}`, `{delete: user, where: lang=xx}`, or the same as `{action: add,
 * resource: user, …}`. Throws a `UsageError` with `file:line:column`.
 */
export function parseChangeSet(text: string, file: string): readonly Change[] {
  const source = new YamlSource(text, file, UsageError);
  const data = source.data({ readsNull: true });
  const isWrapped = typeof data === 'object' && data !== null && 'changes' in data;
  const [items, root]: [unknown, Path] = isWrapped ? [data.changes, ['changes']] : [data, []];
  if (!Array.isArray(items) || items.length === 0) {
    throw source.error(
      root,
      'a change set is a list of changes: "- add: user", "- delete: user" …',
    );
  }
  if (isWrapped) refuseOthers(source, [], data, ['changes']);
  const changes = items.map((item: unknown, index) => changeOf(source, [...root, index], item));
  refuseTwice(source, root, changes);
  return changes;
}

/** CSV or YAML/JSON: by the extension, else by the first line. */
export function isChangeSetFile(file: string, text: string): boolean {
  if (/\.csv$/i.test(file)) return false;
  if (/\.(ya?ml|json)$/i.test(file)) return true;
  const [line = ''] = text.replace(/^\ufeff/, '').split('\n');
  return !/^[\w"]+([,;\t][\w" ]+)+\s*$/.test(line);
}

/** Each line below the field names is one record to add. */
export function parseCsvChangeSet(text: string, file: string, resource: string): readonly Change[] {
  const [first, ...rows] = csvRows(text, file);
  if (rows.length === 0) throw new UsageError(`${file}: no record after the line of field names`);
  const names = (first?.cells ?? []).map((name) => name.trim());
  const lines = new Map<string, number>();
  return rows.map((row): Change => {
    const { cells, line } = row;
    const problem = widthProblem(row, names.length);
    if (problem !== undefined) throw new UsageError(`${file}:${line}: ${problem}`);
    const fields = Object.fromEntries(names.map((name, index) => [name, cells[index] ?? '']));
    const key = fields['username'];
    if (key?.trim() === '')
      throw new UsageError(`${file}:${line}: this ${resource} has no username`);
    const earlier = key === undefined ? undefined : lines.get(key);
    if (earlier !== undefined) {
      throw new UsageError(
        `${file}:${line}: ${resource} ${key ?? ''} is added twice (first in line ${earlier})`,
      );
    }
    if (key !== undefined) lines.set(key, line);
    return { action: 'add', resource, fields };
  });
}

function changeOf(source: YamlSource, path: Path, item: unknown): Change {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) {
    throw source.error(path, 'a change looks like "add: user" with "fields:" below it');
  }
  const entries = new Map<string, unknown>(Object.entries(item));
  const { action, resource, names } = actionOf(source, path, entries);
  refuseOthers(source, path, item, [...names, ...KEYS[action]]);
  switch (action) {
    case 'add': {
      const key = entries.get('key');
      const { fields, asJson } = fieldsOf(source, path, entries);
      return {
        action,
        resource,
        fields:
          key === undefined
            ? fields
            : { username: textOf(source, [...path, 'key'], key), ...fields },
        asJson,
      };
    }
    case 'set':
      return {
        action,
        resource,
        target: targetOf(source, path, entries),
        ...fieldsOf(source, path, entries),
      };
    case 'delete':
      return { action, resource, target: targetOf(source, path, entries) };
  }
}

/** `add: user`, or `action: add` with `resource: user`. */
function actionOf(
  source: YamlSource,
  path: Path,
  entries: ReadonlyMap<string, unknown>,
): { action: (typeof ACTIONS)[number]; resource: string; names: string[] } {
  const short = ACTIONS.filter((name) => entries.has(name));
  const [first, second] = short;
  if (second !== undefined) {
    throw source.error(
      [...path, second],
      `one change cannot be both ${short.join(' and ')}`,
      'key',
    );
  }
  if (first !== undefined) {
    const resource = textOf(source, [...path, first], entries.get(first));
    return { action: first, resource, names: [first] };
  }
  const named = ACTIONS.find((name) => name === entries.get('action'));
  if (named === undefined || !entries.has('resource')) {
    throw source.error(path, `a change says "add: user", "set: user" or "delete: user"`);
  }
  const resource = textOf(source, [...path, 'resource'], entries.get('resource'));
  return { action: named, resource, names: ['action', 'resource'] };
}

function targetOf(source: YamlSource, path: Path, entries: ReadonlyMap<string, unknown>): Target {
  const [key, where] = [entries.get('key'), entries.get('where')];
  if ((key === undefined) === (where === undefined)) {
    throw source.error(path, 'a change needs its records: either "key: bob" or "where: lang=de"');
  }
  if (where === undefined) {
    return { kind: 'key', key: textOf(source, [...path, 'key'], key) };
  }
  const filter = textOf(source, [...path, 'where'], where);
  try {
    parseChoice(filter);
  } catch (error) {
    if (error instanceof UsageError) throw source.error([...path, 'where'], error.message);
    throw error;
  }
  return { kind: 'where', filter };
}

function fieldsOf(
  source: YamlSource,
  path: Path,
  entries: ReadonlyMap<string, unknown>,
): { fields: DeviceRecord; asJson: string[] | undefined } {
  const fields = entries.get('fields');
  const isMap = typeof fields === 'object' && fields !== null && !Array.isArray(fields);
  if (!isMap || Object.keys(fields).length === 0) {
    throw source.error([...path, 'fields'], 'a change needs "fields:" with at least one field');
  }
  // The failsafe schema produces only texts, null, lists and maps, which are all values.
  const values = fields as Readonly<Record<string, Value>>;
  const typed = Object.keys(values).filter((name) => /.:=$/.test(name));
  if (typed.length === 0) return { fields: values, asJson: undefined };
  const named = Object.entries(values).map(([name, value]): [string, Value] =>
    typed.includes(name)
      ? [name.slice(0, -2), jsonOf(source, [...path, 'fields', name], value)]
      : [name, value],
  );
  const twice = named.find(([name], index) => named.findIndex(([one]) => one === name) < index);
  if (twice !== undefined) {
    throw source.error([...path, 'fields', `${twice[0]}:=`], `"${twice[0]}" is given twice`, 'key');
  }
  return { fields: Object.fromEntries(named), asJson: typed.map((name) => name.slice(0, -2)) };
}

/** The value below `mtu:=`. Without a schema YAML does not tell 1500 from "1500", so the JSON must be a text. */
function jsonOf(source: YamlSource, path: Path, value: Value): Value {
  if (value === null) return null;
  try {
    if (typeof value === 'string') return parseJson(value);
  } catch (error) {
    if (!(error instanceof JsonFailure)) throw error;
  }
  throw source.error(path, `":=" takes JSON as a text: mtu:=: 1500, or states:=: '["OK"]'`);
}

function textOf(source: YamlSource, path: Path, value: unknown): string {
  if (typeof value === 'string' && value !== '') return value;
  throw source.error(path, `"${String(path.at(-1))}" must be text`);
}

function refuseOthers(
  source: YamlSource,
  path: Path,
  item: object,
  known: readonly string[],
): void {
  const other = Object.keys(item).find((key) => !known.includes(key));
  if (other === undefined) return;
  const text = `unknown key "${other}", ${nearOrAll(other, known, 'keys')}`;
  throw source.error([...path, other], text, 'key');
}

/** Two changes of one record would be planned from the same before-image: the second would be wrong. */
function refuseTwice(source: YamlSource, root: Path, changes: readonly Change[]): void {
  const lines = new Map<string, number>();
  for (const [index, change] of changes.entries()) {
    const key = change.action === 'add' ? change.fields['username'] : keyOf(change.target);
    if (typeof key !== 'string') continue;
    const name = `${change.resource} ${key}`;
    const earlier = lines.get(name);
    if (earlier !== undefined) {
      throw source.error([...root, index], `${name} is changed twice (first in line ${earlier})`);
    }
    lines.set(name, source.line([...root, index]));
  }
}

function keyOf(target: Target): string | undefined {
  return target.kind === 'key' ? target.key : undefined;
}
