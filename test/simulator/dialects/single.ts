import { type ApiRequest, type Outcome, refusal, type View } from '../../../src/simulator/view.ts';
import type { StoredRecord } from './dialect-store.ts';
import type { ResourceTable, Site } from './site.ts';
import { metadata } from './identity.ts';
import { readBody, storeRecord } from './read-body.ts';
import { type Resource, titleOf } from './resources.ts';

/** The links to these resources. */
export function rootView({ dialect }: Site, resources: readonly Resource[]): View {
  const slash = dialect.traits.endsWithSlash ? '/' : '';
  return {
    title: 'Api Root',
    allow: ['GET', 'HEAD', 'OPTIONS'],
    isReadOnly: true,
    respond: ({ headers: { host = '' } }) => {
      const links = resources.map(({ name }) => [name, `https://${host}/api/${name}${slash}`]);
      return { status: 200, value: Object.fromEntries(links) as unknown };
    },
  };
}

/** A single object without an id, read and changed at one path. */
export function singleView(target: ResourceTable): View {
  const { site, resource, table } = target;
  // A device that accepts only forms needs all fields.
  const takesChanges = site.dialect.traits.encodings.includes('json');
  return {
    title: titleOf(resource),
    allow: ['GET', 'POST', ...(takesChanges ? ['PATCH'] : []), 'HEAD', 'OPTIONS'],
    actions: () => ({ POST: metadata(resource.fields) }),
    respond: (request) => {
      const [record] = table.records;
      if (record === undefined) return refusal(404, 'Not found.');
      if (request.method === 'GET' || request.method === 'HEAD') {
        return { status: 200, value: site.dialect.shown(target, record) };
      }
      return change(target, record, takesChanges, request);
    },
  };
}

function change(
  target: ResourceTable,
  before: StoredRecord,
  isPartial: boolean,
  request: ApiRequest,
): Outcome {
  const { dialect } = target.site;
  const { name, fields } = target.resource;
  const body = readBody(dialect, request, fields, request.method === 'PATCH');
  if ('refused' in body) return body.refused;
  const { input } = body;
  if (dialect.profile === 'form-action' && input['action'] !== 'change') {
    return refusal(400, `${name} can be changed only`);
  }
  const stored = storeRecord(target, { input, before, isPartial });
  if ('refused' in stored) return stored.refused;
  return { status: 200, value: dialect.shown(target, stored.record) };
}
