import type { FieldIssues } from './errors.ts';
import { JsonFailure, parseJson } from './json.ts';
import type { Value } from './record.ts';
import { htmlTitle, isHtml, oneLine } from './text.ts';
import { isValueList, valueText } from './value-text.ts';

/** Fields of an error body that are about no field of the record. */
const GENERAL =
  /^(?:detail|details|message|msg|error|error_description|reason|title|description|non_field_errors|__all__|general)$/i;

/** Fields that hold the complaints per field. */
const CONTAINERS = /^(?:errors|validations|fields|field_errors|invalid)$/i;

/** Fields that only repeat that something went wrong. */
const NOISE = /^(?:status|status_code|code|success|result|ok|type|timestamp|path|request_id)$/i;

/** What a device objects to, per field, from the body of an error answer of any kind. */
export function issuesOf(body: string): FieldIssues {
  const text = body.trim();
  if (text === '') return {};
  if (isHtml(text)) return { '': [htmlTitle(text)] };
  let value: Value;
  try {
    value = parseJson(text);
  } catch (error) {
    if (!(error instanceof JsonFailure)) throw error;
    return { '': [oneLine(text)] };
  }
  return issuesIn(value);
}

/** The same, from a body that was read already. */
export function issuesIn(value: Value): FieldIssues {
  const issues = new Map<string, string[]>();
  collect(value, '', issues);
  // `fromEntries` makes `__proto__` a field like any other.
  return Object.fromEntries(issues);
}

/** The complaints in one line: `username: already exists; lang: not a valid choice`. */
export function issuesText(issues: FieldIssues): string {
  const parts = Object.entries(issues).map(([field, texts]) =>
    field === '' ? texts.join(', ') : `${field}: ${texts.join(', ')}`,
  );
  return oneLine(parts.join('; '));
}

/**
 * Why an answer with a good status is a failure all the same: `{"status": "error"}`,
 * `{"success": false}`, `Error: …`. Undefined when it does not say so.
 */
export function declinedReason(body: string | Value): string | undefined {
  const value = typeof body === 'string' ? jsonOrText(body) : body;
  if (typeof value === 'string') {
    return /^\s*(?:#\s*)?error\b/i.test(value) ? oneLine(value) : undefined;
  }
  if (typeof value !== 'object' || value === null || isValueList(value)) return undefined;
  const { status, result, success, ok } = value as Readonly<Record<string, Value>>;
  const isFailure = [status, result].some(
    (word) => typeof word === 'string' && /^(?:error|failed|failure|fail)$/i.test(word),
  );
  if (!isFailure && success !== false && ok !== false) return undefined;
  return issuesText(issuesIn(value)) || 'it gives no reason';
}

function jsonOrText(body: string): Value {
  if (!/^\s*\{/.test(body.slice(0, 100))) return body.slice(0, 1000);
  try {
    return parseJson(body);
  } catch (error) {
    if (error instanceof JsonFailure) return '';
    throw error;
  }
}

/** Gathers texts below `value`; not deep, because `parseJson` has limited the levels. */
function collect(value: Value, field: string, issues: Map<string, string[]>): void {
  if (issues.size > 100) return;
  if (isValueList(value)) {
    for (const item of value.slice(0, 20)) collect(item, field, issues);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, item] of Object.entries(value)) {
      if (NOISE.test(name)) continue;
      const isGeneral = GENERAL.test(name) || CONTAINERS.test(name);
      collect(item, isGeneral ? field : join(field, name), issues);
    }
  } else if (value !== null && value !== '') {
    const texts = issues.get(field) ?? [];
    issues.set(field, [...texts, oneLine(valueText(value))]);
  }
}

function join(field: string, name: string): string {
  return field === '' ? name : `${field}.${name}`;
}
