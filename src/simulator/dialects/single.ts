import type { DeviceRecord } from '../../device/record.ts';
import type { StoredRecord, Table } from '../store.ts';
import { refusal, type ApiRequest, type Outcome, type Site, type View } from '../view.ts';
import type { Resource } from './resources.ts';
import { metadata, shownObject } from './identity.ts';
import { formText, keyValueText } from './envelope.ts';
import { checkRecord, readBody, replaceRecord } from './read-body.ts';

const TEXT = 'text/plain; charset=utf-8';

/** An object that is always there, with no id: read and changed at one path. */
export function singleView(site: Site, resource: Resource, table: Table): View {
  const { name, fields } = resource;
  const isRest = takesChanges(site);
  return {
    title: name.charAt(0).toUpperCase() + name.slice(1),
    allow: isRest
      ? ['GET', 'POST', 'PATCH', 'HEAD', 'OPTIONS']
      : ['GET', 'POST', 'HEAD', 'OPTIONS'],
    actions: () => ({ POST: metadata(fields) }),
    answer: (request) => {
      const [record] = table.records;
      if (record === undefined) return refusal(404, 'Not found.');
      const isWrite = request.method === 'POST' || request.method === 'PATCH';
      return isWrite
        ? change(site, resource, table, record, request)
        : shown(site, name, shownObject(site.dialect, record));
    },
  };
}

/** Where a form is all that there is, it has to say everything. */
function takesChanges({ dialect }: Site): boolean {
  return dialect.traits.encodings.includes('json');
}

function change(
  site: Site,
  resource: Resource,
  table: Table,
  before: StoredRecord,
  request: ApiRequest,
): Outcome {
  const isPatch = request.method === 'PATCH';
  const body = readBody(site.dialect, request, resource.fields, isPatch);
  if ('refused' in body) return body.refused;
  const { input } = body;
  if (site.dialect.profile === 'form-action' && input['action'] !== 'change') {
    return refusal(400, `${resource.name} can be changed only`);
  }
  const wish = { input, before, isPartial: takesChanges(site) };
  const checked = checkRecord(site, resource, table, wish);
  if ('problems' in checked) return { status: 400, value: checked.problems };
  const record = replaceRecord(table, before, checked.value);
  return { status: 200, value: shownObject(site.dialect, record) };
}

/** In the envelope of the dialect, where that can be around one object. */
function shown({ dialect }: Site, name: string, object: DeviceRecord): Outcome {
  switch (dialect.envelope) {
    case 'data':
      return { status: 200, value: { code: 200, status: 'ok', message: '', data: object } };
    case 'user':
      return { status: 200, value: { [name]: object, status: 'OK' } };
    case 'key-value':
      return { status: 200, text: { type: TEXT, body: keyValueText([object]) } };
    case 'form-text':
      return { status: 200, text: { type: TEXT, body: formText([object]) } };
    case 'array':
    case 'results':
    case 'rows':
    case 'records':
    case 'keyed':
      return { status: 200, value: object };
  }
}
