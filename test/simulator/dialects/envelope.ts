import type { DeviceRecord, Value } from '../../../src/device/record.ts';
import type { Resource } from './resources.ts';
import { type ApiRequest, type Outcome, refusal } from '../../../src/simulator/view.ts';
import type { EnvelopeName, QuirkyDialect } from './dialect.ts';

const TEXT = 'text/plain; charset=utf-8';

/** One page of the records in the envelope of the dialect. */
export function listOutcome(
  dialect: QuirkyDialect,
  resource: Resource,
  records: readonly DeviceRecord[],
  request: ApiRequest,
): Outcome {
  const total = records.length;
  const page = pageOf(dialect, request, total);
  if ('status' in page) return page;
  const shown = records.slice(page.start, page.end);
  return inEnvelope(dialect, resource, shown, { total, facts: page.facts });
}

/** Envelopes of lists only; a single object has none of them. */
const AROUND_LISTS: readonly EnvelopeName[] = ['results', 'rows', 'records', 'keyed'];

/** A single object, in the envelope of the dialect if that can hold one. */
export function objectOutcome(
  dialect: QuirkyDialect,
  resource: Resource,
  object: DeviceRecord,
): Outcome {
  return AROUND_LISTS.includes(dialect.envelope)
    ? ok(object)
    : inEnvelope(dialect, resource, object, { total: 1, facts: {} });
}

function inEnvelope(
  { envelope }: QuirkyDialect,
  { name, key = '' }: Resource,
  content: DeviceRecord | readonly DeviceRecord[],
  { total, facts }: { readonly total: number } & Pick<Page, 'facts'>,
): Outcome {
  const records = [content].flat();
  switch (envelope) {
    case 'array':
      return ok(content);
    case 'results':
      return ok({ ...facts, results: records });
    case 'data':
      return ok({ code: 200, status: 'ok', message: '', ...facts, data: content });
    case 'rows':
      return ok({ rowCount: records.length, total, current: 1, ...facts, rows: records });
    case 'records':
      return ok({ ...facts, records });
    case 'user':
      return ok({ ...facts, [name]: content, status: 'OK' });
    case 'keyed':
      return ok(keyed(records, key));
    case 'key-value':
      return { status: 200, text: { type: TEXT, body: keyValueText(records) } };
    case 'form-text':
      return { status: 200, text: { type: TEXT, body: formText(records) } };
  }
}

function ok(value: unknown): Outcome {
  return { status: 200, value };
}

function keyed(records: readonly DeviceRecord[], key: string): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    records.map(({ [key]: name, ...rest }) => [typeof name === 'string' ? name : '', rest]),
  );
}

/** `key=value` lines, an empty line between records; `ipv4.mode` for nested fields, commas in lists. */
function keyValueText(records: readonly DeviceRecord[]): string {
  const blocks = records.map((record) =>
    pairs(record).map(([name, texts]) => `${name}=${quoted(texts.join(','))}\n`),
  );
  return blocks.map((lines) => lines.join('')).join('\n');
}

/** One form (`a=b&c=d`) per line; the items of a list repeat the name. */
function formText(records: readonly DeviceRecord[]): string {
  const lines = records.map((record) => {
    const form = pairs(record).flatMap(([name, texts]) =>
      (texts.length === 0 ? [''] : texts).map((text): [string, string] => [name, text]),
    );
    return `${new URLSearchParams(form).toString()}\n`;
  });
  return lines.join('');
}

type Pair = readonly [name: string, texts: readonly string[]];

function pairs(record: DeviceRecord, prefix = ''): Pair[] {
  return Object.entries(record).flatMap(([field, value]) => {
    const name = `${prefix}${field}`;
    if (isNested(value)) return pairs(value, `${name}.`);
    return [[name, Array.isArray(value) ? value.map(textOf) : [textOf(value)]] as const];
  });
}

function isNested(value: Value): value is DeviceRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(value: Value): string {
  if (value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** In quotes if outer spaces would be lost; line breaks become spaces. */
function quoted(text: string): string {
  const line = text.replaceAll(/[\r\n]+/g, ' ');
  return line === line.trim() && !line.startsWith('"') ? line : `"${line}"`;
}

/** Which part of a list to show. */
interface Page {
  readonly start: number;
  readonly end: number;
  /** Fields beside the records that report the page. */
  readonly facts: Readonly<Record<string, unknown>>;
}

/** The requested page, or the refusal if there is none. */
function pageOf(dialect: QuirkyDialect, request: ApiRequest, total: number): Page | Outcome {
  const [, query = ''] = request.target.split('?', 2);
  const parameters = new URLSearchParams(query);
  switch (dialect.paging) {
    case 'none':
      return { start: 0, end: total, facts: {} };
    case 'next':
      return linkedPage(dialect, request, parameters, total);
    case 'page': {
      const rowCount = numberIn(parameters, 'rowCount', dialect.pageSize, -1);
      const size = rowCount < 1 ? Math.max(1, total) : rowCount;
      const current = numberIn(parameters, 'current', 1, 1);
      const start = Math.min(total, (current - 1) * size);
      const end = Math.min(total, start + size);
      return { start, end, facts: { rowCount: end - start, total, current } };
    }
    case 'offset': {
      const start = Math.min(total, numberIn(parameters, 'offset', 0, 0));
      const end = Math.min(total, start + numberIn(parameters, 'limit', dialect.pageSize, 1));
      return { start, end, facts: { total } };
    }
  }
}

/** Page numbers like in Django REST Framework: absolute links, and 404 after the last page. */
function linkedPage(
  { pageSize, quirks }: QuirkyDialect,
  request: ApiRequest,
  parameters: URLSearchParams,
  total: number,
): Page | Outcome {
  const pages = Math.max(1, Math.ceil(total / pageSize));
  const page = Number(parameters.get('page') ?? 1);
  if (!Number.isInteger(page) || page < 1 || page > pages) return refusal(404, 'Invalid page.');
  const [path = ''] = request.target.split('?', 1);
  const origin = quirks.has('http-next')
    ? 'http://proxy.invalid'
    : `https://${request.headers.host ?? ''}`;
  const link = (wanted: number): string | null => {
    if (wanted < 1 || wanted > pages) return null;
    const other = new URLSearchParams(parameters);
    if (wanted === 1) other.delete('page');
    else other.set('page', String(wanted));
    return `${origin}${path}${other.size === 0 ? '' : `?${other.toString()}`}`;
  };
  const start = (page - 1) * pageSize;
  return {
    start,
    end: Math.min(total, start + pageSize),
    facts: {
      count: total,
      next: link(quirks.has('page-loop') ? page : page + 1),
      previous: link(page - 1),
    },
  };
}

function numberIn(
  parameters: URLSearchParams,
  name: string,
  fallback: number,
  lowest: number,
): number {
  const text = parameters.get(name) ?? '';
  const number = /^-?\d{1,9}$/.test(text) ? Number(text) : fallback;
  return number < lowest ? fallback : number;
}
