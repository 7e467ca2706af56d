import { type ApiRequest, type Outcome, refusal, type View } from '../view.ts';
import type { StoredRecord } from '../store.ts';
import { objectOutcome } from './envelope.ts';
import { metadata, shownObject } from './identity.ts';
import { readBody, storeRecord } from './read-body.ts';
import { type Place, titleOf } from './resources.ts';

/** A single object without an id, read and changed at one path. */
export function singleView(place: Place): View {
  const { site, resource, table } = place;
  // A device that accepts only forms needs all fields.
  const takesChanges = site.dialect.traits.encodings.includes('json');
  return {
    title: titleOf(resource),
    allow: ['GET', 'POST', ...(takesChanges ? ['PATCH'] : []), 'HEAD', 'OPTIONS'],
    actions: () => ({ POST: metadata(resource.fields) }),
    answer: (request) => {
      const [record] = table.records;
      if (record === undefined) return refusal(404, 'Not found.');
      if (request.method === 'GET' || request.method === 'HEAD') {
        return objectOutcome(site.dialect, resource, shownObject(site.dialect, record));
      }
      return change(place, record, takesChanges, request);
    },
  };
}

function change(
  place: Place,
  before: StoredRecord,
  isPartial: boolean,
  request: ApiRequest,
): Outcome {
  const { dialect } = place.site;
  const { name, fields } = place.resource;
  const body = readBody(dialect, request, fields, request.method === 'PATCH');
  if ('refused' in body) return body.refused;
  const { input } = body;
  if (dialect.profile === 'form-action' && input['action'] !== 'change') {
    return refusal(400, `${name} can be changed only`);
  }
  const stored = storeRecord(place, { input, before, isPartial });
  if ('refused' in stored) return stored.refused;
  return { status: 200, value: shownObject(dialect, stored.record) };
}
