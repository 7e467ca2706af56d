import type { Value } from './record.ts';
import { isValueList } from './value-text.ts';

/** What surrounds the record in a request, and so comes first in the path of a complaint. */
const AROUND =
  /^(?:data|body|json|form|attributes|relationships|payload|request|input|params|\$)$/i;

/** Names for the field in an entry of a list of complaints, the surest first. */
const FIELD_NAMES = ['field', 'fieldName', 'field_name', 'propertyPath', 'property', 'attribute'];
const LIKELY_NAMES = [...FIELD_NAMES, 'param', 'parameter', 'target', 'loc', 'path', 'pointer'];

/** Names for the text of such an entry, the one that says most first. */
const TEXT_NAMES = [
  'detail',
  'defaultMessage',
  'message',
  'msg',
  'reason',
  'description',
  'error',
  'errors',
  'title',
  'code',
];

type ValueObject = Readonly<Record<string, Value>>;

/** An entry that names a field and says what is wrong with it. */
export interface Entry {
  readonly path: string;
  readonly text: Value;
}

/**
 * An object as an entry of a list of complaints: `{field, message}`, `{loc: ["body", "name"], msg}`,
 * `{source: {pointer: "/data/attributes/name"}, detail}`, `{name, reason}`. Undefined when it is
 * something else.
 *
 * @param isListed not the answer as a whole: there a `path` is that of the request
 */
export function entryIn(value: ValueObject, isListed: boolean): Entry | undefined {
  const textName = TEXT_NAMES.find((name) => isText(ownOf(value, name)));
  if (textName === undefined) return undefined;
  const source = ownOf(value, 'source');
  const isSource = typeof source === 'object' && source !== null && !isValueList(source);
  const places = isSource ? [ownOf(source, 'pointer'), ownOf(source, 'parameter')] : [];
  // `{name, reason}` of problem+json: a name beside anything else may be that of the error.
  if (textName === 'reason' || textName === 'message') places.push(ownOf(value, 'name'));
  const names = isListed ? LIKELY_NAMES : FIELD_NAMES.concat('target');
  places.unshift(...names.map((name) => ownOf(value, name)));
  const lists = isListed ? [ownOf(value, 'loc'), ownOf(value, 'path')] : [];
  const path = [...places.map(pathText), ...lists.map(listedPath)].find((text) => text !== '');
  const text = ownOf(value, textName);
  return path === undefined || text === undefined ? undefined : { path, text };
}

/**
 * The field that a path means: `user.name`, `/data/attributes/name`, `data[user][name]`, `["body","name"]`.
 * What surrounds the record is taken off, up to a field that was sent (`FirstName` is `first_name`).
 */
export function fieldOfPath(path: string, sent: readonly string[]): string {
  const whole = sent.find((field) => field === path);
  if (whole !== undefined) return whole;
  const names = namesIn(path);
  for (let start = 0; start < names.length; start += 1) {
    for (let end = names.length; end > start; end -= 1) {
      const name = folded(names.slice(start, end).join('.'));
      const field = sent.find((one) => folded(one) === name);
      if (field !== undefined) return [field, ...names.slice(end)].join('.');
    }
  }
  const first = names.findIndex((name) => !AROUND.test(name));
  return (first === -1 ? names : names.slice(first)).join('.');
}

/** `a.b[0].c`, `/a/b/0/c` and `a[b][c]` by their names. */
function namesIn(path: string): string[] {
  const names = path.startsWith('/')
    ? path.split('/').map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
    : path.replace(/\[["']?([^\]"']*)["']?\]/g, '.$1').split('.');
  return names.filter((name) => name !== '');
}

function folded(name: string): string {
  return name.replace(/[-_]/g, '').toLowerCase();
}

function pathText(value: Value | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** `["body", "address", "city"]` */
function listedPath(value: Value | undefined): string {
  return isValueList(value) ? value.filter((part) => typeof part !== 'object').join('.') : '';
}

function isText(value: Value | undefined): boolean {
  if (isValueList(value)) return value.length > 0 && value.every((item) => isText(item));
  return typeof value === 'string' && value !== '';
}

function ownOf(object: ValueObject, name: string): Value | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}
