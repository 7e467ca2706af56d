import type { FieldIssues } from './errors.ts';
import { jsonIn } from './json.ts';
import {
  isNested,
  isValueList,
  isValueObject,
  nestedValue,
  type Value,
  valueAt,
  valueText,
} from './record.ts';
import { htmlTitle, isHtml, oneLine } from '../text/one-line.ts';
import { textOf } from '../output/sentences.ts';

/** Keys of an error body that name no field of the record. */
const GENERAL =
  /^(?:detail|details|message|msg|error|error_description|reason|title|description|non_field_errors|__all__|general)$/i;

/** Keys that contain complaints per field. */
const CONTAINERS =
  /^(?:errors|validations?|violations|fields|field_?errors|sub_?errors|field_?violations|invalid|invalid[-_]?params|messages|issues|(?:.+)?@Message\.ExtendedInfo)$/i;

/** Keys that only repeat that something went wrong. */
const NOISE =
  /^(?:status|status_?code|code|success|result|ok|type|@type|timestamp|path|instance|severity|resolution|message_?id|documentation_?url|(?:request|trace)_?id)$/i;

/** Per field, in an error body of any format; `sent`: a complaint about `data.user.name` is about `name`. */
export function issuesOf(body: string, sent: readonly string[] = []): FieldIssues {
  const text = body.trim();
  if (text === '') return {};
  if (isHtml(text)) return { '': [htmlTitle(text)] };
  const value = jsonIn(text);
  return value === undefined ? { '': [oneLine(text)] } : issuesIn(value, sent);
}

export function issuesIn(value: Value, sent: readonly string[] = []): FieldIssues {
  const all = [...complaintsIn(value, { names: [], isListed: false, sent })].slice(0, 100);
  // The code alone is no reason; a status in words is.
  const status = isValueObject(value) ? valueText(valueAt(value, 'status')) : '';
  const isCode = /\s/.test(status) && all.every(({ text }) => /^\d+$/.test(text));
  const complaints = isCode ? [{ names: [], text: oneLine(status) }] : all;
  const issues = Map.groupBy(complaints, ({ names }) => fieldOf(names, sent));
  // `fromEntries` makes `__proto__` a field like any other.
  return Object.fromEntries(
    [...issues].map(([field, some]) => [field, [...new Set(some.map(({ text }) => text))]]),
  );
}

/** The complaints in one line: `username: already exists; lang: not a valid choice`. */
export function issuesText(issues: FieldIssues): string {
  const parts = Object.entries(issues).map(([field, texts]) =>
    field === '' ? texts.join(', ') : `${field}: ${texts.join(', ')}`,
  );
  return oneLine(parts.join('; '));
}

/** Why a 2xx is a failure: `{"status": "error"}`, `Error: …`, or not the values of `successIf`, where it has them. */
export function declinedReason(
  body: string | Value,
  successIf: Readonly<Record<string, string>> = {},
): string | undefined {
  if (typeof body === 'string' && !/^\s*\{/.test(body.slice(0, 100))) {
    const start = body.slice(0, 1000);
    return /^\s*(?:#\s*)?error\b/i.test(start) ? oneLine(start) : undefined;
  }
  const value = typeof body === 'string' ? jsonIn(body) : body;
  if (!isValueObject(value)) return undefined;
  const { status, result, success, ok } = value;
  const isFailure = [status, result].some(
    (word) => typeof word === 'string' && /^(?:error|failed|failure|fail)$/i.test(word),
  );
  const isUnlike = Object.entries(successIf).some(([place, text]) => {
    const held = nestedValue(value, place);
    return held !== undefined && valueText(held) !== text;
  });
  if (!isFailure && !isUnlike && success !== false && ok !== false) return undefined;
  return issuesText(issuesIn(value)) || textOf({ code: 'no-reason' });
}

/** The texts beside a code of at least 400 in a successful response to a write; undefined if there are none. */
export function objectionIn(body: string): string | undefined {
  const value = jsonIn(body);
  const texts = value === undefined ? [] : besideCodes(value);
  return oneLine([...new Set(texts)].join('; ')) || undefined;
}

const CODES = ['code', 'status', 'status_code', 'statusCode'];
const REASONS = ['message', 'error', 'detail', 'status'];

/** Looks into every record, because an objection may be at any level. */
function besideCodes(value: Value): string[] {
  if (!isNested(value)) return [];
  if (isValueList(value)) return value.flatMap(besideCodes);
  const isBad = CODES.some((name) => Number(valueText(valueAt(value, name))) >= 400);
  const reasons = REASONS.map((name) => valueAt(value, name));
  const reason = reasons.find((text) => typeof text === 'string' && !/^\d*$/.test(text));
  return isBad && reason !== undefined
    ? [valueText(reason)]
    : Object.values(value).flatMap(besideCodes);
}

/** A text, and the names on the way to it, outermost first. */
type Complaint = Readonly<{ names: readonly string[]; text: string }>;

interface Place {
  readonly names: readonly string[];
  /** Inside a list or a key that contains complaints. */
  readonly isListed: boolean;
  readonly sent: readonly string[];
}

/** Recursion is safe because `parseJson` limits the depth. */
function* complaintsIn(value: Value, place: Place): Generator<Complaint> {
  if (isValueList(value)) {
    for (const item of value.slice(0, 20)) yield* complaintsIn(item, { ...place, isListed: true });
    return;
  }
  if (!isNested(value)) {
    if (value !== null && value !== '')
      yield { names: place.names, text: oneLine(valueText(value)) };
    return;
  }
  const entry = entryOf(value, place.isListed);
  if (entry !== undefined) {
    yield* complaintsIn(entry.text, { ...place, names: [...place.names, ...entry.names] });
    return;
  }
  for (const [name, item] of Object.entries(value)) {
    // A field of the record may have such a name; then it has a list of complaints.
    const isField = isValueList(item) && place.sent.includes(name);
    if (NOISE.test(name) && !isField) continue;
    const isContainer = CONTAINERS.test(name) && !isField;
    const isGeneral = isContainer || (GENERAL.test(name) && !isField);
    const names = isGeneral ? place.names : [...place.names, ...namesIn(name)];
    yield* complaintsIn(item, { ...place, names, isListed: place.isListed || isContainer });
  }
}

/** Wrappers of the record in a request, which start the path of a complaint. */
const WRAPPERS =
  /^(?:data|body|json|form|attributes|relationships|payload|request|input|params|\$)$/i;

/** Keys that name the field in a list entry, most reliable first. */
const FIELD_NAMES = 'field fieldName field_name propertyPath property attribute target'.split(' ');
const LISTED_NAMES = [...FIELD_NAMES, 'param', 'parameter', 'loc', 'path', 'pointer'];

/** Keys that have the text of such an entry, most specific first. */
const TEXT_NAMES =
  'detail defaultMessage message msg reason description error errors title code'.split(' ');

/**
 * An object as an entry of a list of complaints: `{field, message}`, `{loc: ["body", "name"], msg}`,
 * `{source: {pointer: "/data/attributes/name"}, detail}`, `{name, reason}`; otherwise undefined.
 *
 * @param isListed false for the whole response, whose `path` is that of the request
 */
function entryOf(value: Readonly<Record<string, Value>>, isListed: boolean) {
  const textName = TEXT_NAMES.find((name) => isText(valueAt(value, name)));
  const text = textName === undefined ? undefined : valueAt(value, textName);
  const { source } = value;
  const places = (isListed ? LISTED_NAMES : FIELD_NAMES).map((name) => valueAt(value, name));
  if (isValueObject(source)) places.push(valueAt(source, 'pointer'), valueAt(source, 'parameter'));
  // `{name, reason}` of problem+json: beside other texts `name` may be the name of the error.
  if (textName === 'reason' || textName === 'message') places.push(valueAt(value, 'name'));
  // At the top a list belongs to a field of this name.
  const names = places
    .filter((place) => isListed || !isValueList(place))
    .map(namesIn)
    .find(({ length }) => length > 0);
  return text === undefined || names === undefined ? undefined : { names, text };
}

/** The field in `user.name`, `/data/attributes/name` or `["body","name"]`: without wrappers around a sent one. */
function fieldOf(names: readonly string[], sent: readonly string[]): string {
  const whole = names.join('.');
  if (sent.includes(whole)) return whole;
  for (let start = 0; start < names.length; start += 1) {
    for (let end = names.length; end > start; end -= 1) {
      const name = normalized(names.slice(start, end).join('.'));
      const field = sent.find((one) => normalized(one) === name);
      if (field !== undefined) return [field, ...names.slice(end)].join('.');
    }
  }
  const first = names.findIndex((name) => !WRAPPERS.test(name));
  return names.slice(Math.max(first, 0)).join('.');
}

/** Splits `a.b[0].c`, `/a/b/0/c`, `a[b][c]` and `["a", 0, "c"]` into names. */
function namesIn(place: Value | undefined): string[] {
  if (isValueList(place)) return place.map(valueText).filter((name) => name !== '');
  if (typeof place !== 'string') return [];
  const names = place.startsWith('/')
    ? place.split('/').map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
    : place.replace(/\[["']?([^\]"']*)["']?\]/g, '.$1').split('.');
  return names.filter((name) => name !== '');
}

function normalized(name: string): string {
  return name.replace(/[-_]/g, '').toLowerCase();
}

function isText(value: Value | undefined): boolean {
  if (isValueList(value)) return value.length > 0 && value.every(isText);
  return typeof value === 'string' && value !== '';
}
