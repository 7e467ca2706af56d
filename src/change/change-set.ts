import { jsonIn, partsOf } from '../device/json.ts';
import type { DeviceRecord, Value } from '../device/record.ts';
import { parseChoice } from '../fleet/filter.ts';
import { UsageError } from '../errors.ts';
import type { Note } from '../output/sentences.ts';
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
  const parts = partsOf(data);
  const isWrapped = Object.hasOwn(parts, 'changes');
  const [items, root]: [unknown, Path] = isWrapped ? [parts['changes'], ['changes']] : [data, []];
  if (!Array.isArray(items) || items.length === 0) {
    throw source.error(root, { code: 'bad-change-file', is: 'no-list' });
  }
  if (isWrapped) refuseOthers({ source, path: [], entries: parts }, ['changes']);
  const changes = items.map((item, index) =>
    changeOf({ source, path: [...root, index], entries: partsOf(item) }),
  );
  refuseTwice(
    changes,
    (index) => source.line([...root, index]),
    (index, note) => source.error([...root, index], note),
  );
  return changes;
}

/** CSV or YAML/JSON: by the extension, else by the first line. */
export function isCsvChangeSet(file: string, text: string): boolean {
  if (/\.(?:csv|ya?ml|json)$/i.test(file)) return /csv$/i.test(file);
  const [line = ''] = text.replace(/^\ufeff/, '').split(/\r?\n/);
  return /^[\w"][\w" .-]*(?:[,;\t][\w" .-]*)*$/.test(line);
}

/** Each line below the field names is one record to add. */
export function parseCsvChangeSet(text: string, file: string, resource: string): readonly Change[] {
  const [first, ...rows] = csvRows(text, file);
  if (rows.length === 0) {
    throw new UsageError({ code: 'bad-change-file', is: 'no-row' }, { where: file });
  }
  const names = (first?.cells ?? []).map((name) => name.trim());
  const failure = (line: number, what: Note | string): UsageError =>
    new UsageError(what, { where: `${file}:${line}` });
  const changes = rows.map((row): Change => {
    const problem = widthProblem(row, names.length);
    if (problem !== undefined) throw failure(row.line, problem);
    const fields = Object.fromEntries(names.map((name, index) => [name, row.cells[index] ?? '']));
    if (fields['username']?.trim() !== '') return { action: 'add', resource, fields };
    throw failure(row.line, { code: 'bad-change-file', is: 'nameless', resource });
  });
  const lineOf = (index: number): number => rows[index]?.line ?? 1;
  refuseTwice(changes, lineOf, (index, note) => failure(lineOf(index), note));
  return changes;
}

/** A map in the file, and where it is. */
interface Item {
  readonly source: YamlSource;
  readonly path: Path;
  readonly entries: Readonly<Partial<Record<string, unknown>>>;
}

function changeOf(item: Item): Change {
  const { action, resource, names } = actionOf(item);
  refuseOthers(item, [...names, ...KEYS[action]]);
  if (action === 'add') {
    const { fields, asJson } = fieldsOf(item);
    const username = textAt(item, 'key');
    return { action, resource, fields: { ...(username && { username }), ...fields }, asJson };
  }
  const target = targetOf(item);
  if (action === 'delete') return { action, resource, target };
  return { action, resource, target, ...fieldsOf(item) };
}

/** `add: user`, or `action: add` with `resource: user`. */
function actionOf(item: Item) {
  const { source, path, entries } = item;
  const short = ACTIONS.filter((name) => Object.hasOwn(entries, name));
  const [first, second] = short;
  if (second !== undefined) {
    const actions = short.join(' and ');
    const note = { code: 'bad-change-file', is: 'two-actions', actions } as const;
    throw source.error([...path, second], note, 'key');
  }
  const action = first ?? ACTIONS.find((name) => name === entries['action']);
  const resource = textAt(item, first ?? 'resource');
  if (action === undefined || resource === undefined) {
    throw source.error(path, { code: 'bad-change-file', is: 'no-action' });
  }
  return { action, resource, names: first === undefined ? ['action', 'resource'] : [first] };
}

function targetOf(item: Item): Target {
  const { source, path } = item;
  const [key, filter] = [textAt(item, 'key'), textAt(item, 'where')];
  if ((key === undefined) === (filter === undefined)) {
    throw source.error(path, { code: 'bad-change-file', is: 'no-target' });
  }
  if (filter === undefined) return { kind: 'key', key: key ?? '' };
  try {
    parseChoice(filter);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw source.error([...path, 'where'], error.note ?? error.message);
  }
  return { kind: 'where', filter };
}

function fieldsOf({ source, path, entries }: Item) {
  const place = [...path, 'fields'];
  const given = entries['fields'];
  if (Array.isArray(given) || Object.keys(partsOf(given)).length === 0) {
    throw source.error(place, { code: 'bad-change-file', is: 'no-fields' });
  }
  const fields = new Map<string, Value>();
  const asJson: string[] = [];
  // The failsafe schema produces only texts, null, lists and maps, which are all values.
  for (const [name, value] of Object.entries(given as DeviceRecord)) {
    const field = name.replace(/(?<=.):=$/, '');
    if (fields.has(field)) {
      const note = { code: 'bad-change-file', is: 'field-twice', field } as const;
      throw source.error([...place, `${field}:=`], note, 'key');
    }
    fields.set(field, field === name ? value : jsonOf(source, [...place, name], value));
    if (field !== name) asJson.push(field);
  }
  // From a map: "__proto__" becomes a field like any other.
  return { fields: Object.fromEntries(fields), asJson: asJson.length === 0 ? undefined : asJson };
}

/** The value below `mtu:=`. Without a schema YAML does not tell 1500 from "1500", so the JSON must be a text. */
function jsonOf(source: YamlSource, path: Path, value: Value): Value {
  if (value === null) return null;
  const json = typeof value === 'string' ? jsonIn(value) : undefined;
  if (json !== undefined) return json;
  throw source.error(path, { code: 'bad-change-file', is: 'not-json' });
}

/** Undefined if there is none; throws if it is no text, or an empty one. */
function textAt({ source, path, entries }: Item, name: string): string | undefined {
  const value = entries[name];
  if (value === undefined || (typeof value === 'string' && value !== '')) return value;
  throw source.error([...path, name], { code: 'bad-change-file', is: 'not-text', name });
}

function refuseOthers({ source, path, entries }: Item, known: readonly string[]): void {
  const key = Object.keys(entries).find((one) => !known.includes(one));
  if (key === undefined) return;
  const hint = nearOrAll(key, known, 'keys');
  const note = { code: 'bad-change-file', is: 'unknown-key', key, hint } as const;
  throw source.error([...path, key], note, 'key');
}

/** Two changes of one record would be planned from the same before-image: the second would be wrong. */
function refuseTwice(
  changes: readonly Change[],
  lineOf: (index: number) => number,
  failure: (index: number, note: Note) => Error,
): void {
  const lines = new Map<string, number>();
  for (const [index, change] of changes.entries()) {
    const key =
      change.action === 'add'
        ? change.fields['username']
        : change.target.kind === 'key' && change.target.key;
    if (typeof key !== 'string') continue;
    const record = `${change.resource} ${key}`;
    const line = lines.get(record);
    if (line !== undefined) {
      throw failure(index, { code: 'bad-change-file', is: 'twice', record, line });
    }
    lines.set(record, lineOf(index));
  }
}
