import {
  decodedPath,
  refusal,
  type ApiRequest,
  type Outcome,
  type View,
} from '../../../src/simulator/view.ts';
import { type ResourceTable, shownRecords, type Site, tableOf } from './site.ts';
import { readBody, storeRecord } from './read-body.ts';
import { singleView } from './single.ts';

const DONE: Outcome = { status: 200, value: { status: 'OK' } };

/** GET lists, POST applies `action` to the record with that key. No ids; 200 only means that the form arrived. */
export function findFormActionView(site: Site, sent: string): View | undefined {
  const name = /^\/api\/([a-z]+)\/$/.exec(decodedPath(sent))?.[1] ?? '';
  const target = tableOf(site, name);
  if (target === undefined) return undefined;
  if (target.resource.key === undefined) return singleView(target);
  return {
    title: name,
    allow: ['GET', 'POST', 'HEAD'],
    respond: (request) =>
      request.method === 'POST'
        ? act(target, request)
        : { status: 200, value: shownRecords(target) },
  };
}

function act(target: ResourceTable, request: ApiRequest): Outcome {
  const { site, table } = target;
  const { key = '', name, fields } = target.resource;
  const action = new URLSearchParams(request.body).get('action') ?? '';
  const body = readBody(site.dialect, request, fields, action !== 'add');
  if ('refused' in body) return body.refused;
  const { input } = body;
  if (!['add', 'change', 'delete'].includes(action)) {
    return refusal(400, `unknown action "${action}"`);
  }
  const selector = input[key];
  if (typeof selector !== 'string' || selector === '') return refusal(400, `${key} is missing`);
  const before =
    action === 'add' ? undefined : table.records.find((record) => record[key] === selector);
  if (action !== 'add' && before === undefined) {
    return refusal(400, `there is no ${name} "${selector}"`);
  }
  if (action === 'delete' && before !== undefined) {
    if (before['canBeDeleted'] === false) {
      return refusal(400, `${name} "${selector}" cannot be deleted`);
    }
    table.delete(before.uuid);
    return DONE;
  }
  const stored = storeRecord(target, { input, before, isPartial: before !== undefined });
  return 'refused' in stored ? stored.refused : DONE;
}

/** All texts in the body of a refusal, in one line. */
export function textIn(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(textIn).join(' ');
  if (typeof value !== 'object' || value === null) return '';
  return Object.entries(value)
    .map(([name, inner]) => {
      const text = textIn(inner);
      return name === 'detail' || name === 'non_field_errors' ? text : `${name}: ${text}`;
    })
    .join(' ');
}

/** Only the server in front of the form uses status codes. */
export function refuseForm({ method }: ApiRequest, outcome: Outcome): Outcome {
  const { status, value } = outcome;
  const isOfServer = status === 401 || status === 405 || method !== 'POST';
  return isOfServer ? outcome : { status: 200, value: { status: 'error', message: textIn(value) } };
}
