import {
  decodedPath,
  refusal,
  type ApiRequest,
  type Outcome,
  type Site,
  type View,
} from '../view.ts';
import { listOutcome } from './envelope.ts';
import { readBody, storeRecord } from './read-body.ts';
import { type Place, placeOf } from './resources.ts';
import { singleView } from './single.ts';

const DONE: Outcome = { status: 200, value: { status: 'OK' } };

/**
 * One path per resource: GET lists, and POST applies `action` to the record whose key is in the form.
 * There are no ids, and status 200 means only that the form arrived.
 */
export function findFormActionView(site: Site, sent: string): View | undefined {
  const name = /^\/api\/([a-z]+)\/$/.exec(decodedPath(sent))?.[1] ?? '';
  const place = placeOf(site, name);
  if (place === undefined) return undefined;
  if (place.resource.key === undefined) return singleView(place);
  return {
    title: name,
    allow: ['GET', 'POST', 'HEAD'],
    answer: (request) =>
      request.method === 'POST' ? act(place, request) : listOutcome(place, request),
  };
}

function act(place: Place, request: ApiRequest): Outcome {
  const { site, table } = place;
  const { key = '', name, fields } = place.resource;
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
  const stored = storeRecord(place, { input, before, isPartial: before !== undefined });
  return 'refused' in stored ? stored.refused : DONE;
}
