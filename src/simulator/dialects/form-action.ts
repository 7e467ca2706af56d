import type { Table } from '../store.ts';
import {
  decodedPath,
  refusal,
  type ApiRequest,
  type Outcome,
  type Site,
  type View,
} from '../view.ts';
import { listOutcome } from './envelope.ts';
import { type Resource, RESOURCES } from './resources.ts';
import { checkRecord, readBody, replaceRecord } from './read-body.ts';
import { singleView } from './single.ts';

const DONE: Outcome = { status: 200, value: { status: 'OK' } };

/**
 * One path for each resource: GET lists, and POST does what `action` says to the record with the key
 * in the form. There are no ids, and status 200 means only that the form arrived.
 */
export function findFormActionView(site: Site, sent: string): View | undefined {
  const name = /^\/api\/([a-z]+)\/$/.exec(decodedPath(sent))?.[1] ?? '';
  const resource = RESOURCES[site.dialect.profile].find((known) => known.name === name);
  const table = site.store.table(name);
  if (resource === undefined || table === undefined) return undefined;
  if (resource.key === undefined) return singleView(site, resource, table);
  return {
    title: name,
    allow: ['GET', 'POST', 'HEAD'],
    answer: (request) =>
      request.method === 'POST'
        ? act(site, resource, table, request)
        : listOutcome(site, resource, request),
  };
}

function act(site: Site, resource: Resource, table: Table, request: ApiRequest): Outcome {
  const { key = '', name } = resource;
  const action = new URLSearchParams(request.body).get('action') ?? '';
  const body = readBody(site.dialect, request, resource.fields, action !== 'add');
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
  const isPartial = before !== undefined;
  const checked = checkRecord(site, resource, table, { input, before, isPartial });
  if ('problems' in checked) return { status: 400, value: checked.problems };
  if (before === undefined) site.store.insert(table, checked.value);
  else replaceRecord(table, before, checked.value);
  return DONE;
}
