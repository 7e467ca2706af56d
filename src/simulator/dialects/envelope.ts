import type { DeviceRecord } from '../../device/record.ts';
import type { ApiRequest, Outcome, Site } from '../view.ts';
import type { Resource } from './fields.ts';
import { idField, shownRecords } from './identity.ts';
import { formText, keyValueText } from './list-text.ts';
import { pageOf } from './paging.ts';

const TEXT = 'text/plain; charset=utf-8';

/** `GET` of a list: one page of the records in the envelope of the dialect. */
export function listOutcome({ store, dialect }: Site, resource: Resource, request: ApiRequest) {
  const table = store.table(resource.name);
  const all = table === undefined ? [] : shownRecords(dialect, table);
  const page = pageOf(dialect, request, all.length);
  if ('status' in page) return page;
  const isSummary = dialect.quirks.has('summary-list');
  const inFull = all.slice(page.start, page.end);
  const records = isSummary ? inFull.map((record) => summaryOf(dialect, resource, record)) : inFull;
  const ok = (value: unknown): Outcome => ({ status: 200, value });
  switch (dialect.envelope) {
    case 'array':
      return ok(records);
    case 'results':
      return ok({ ...page.facts, results: records });
    case 'data':
      return ok({ code: 200, status: 'ok', message: '', ...page.facts, data: records });
    case 'rows': {
      const { length } = records;
      return ok({ rowCount: length, total: all.length, current: 1, ...page.facts, rows: records });
    }
    case 'records':
      return ok({ ...page.facts, records });
    case 'user':
      return ok({ ...page.facts, [resource.name]: records, status: 'OK' });
    case 'keyed':
      return ok(keyed(records, resource.key ?? ''));
    case 'key-value':
      return { status: 200, text: { type: TEXT, body: keyValueText(records) } };
    case 'form-text':
      return { status: 200, text: { type: TEXT, body: formText(records) } };
  }
}

function summaryOf(
  dialect: Site['dialect'],
  { key }: Resource,
  record: DeviceRecord,
): DeviceRecord {
  const shown = [idField(dialect), key];
  return Object.fromEntries(Object.entries(record).filter(([field]) => shown.includes(field)));
}

/** The key is said once, outside of the record. */
function keyed(records: readonly DeviceRecord[], key: string): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    records.map(({ [key]: name, ...rest }) => [typeof name === 'string' ? name : '', rest]),
  );
}
