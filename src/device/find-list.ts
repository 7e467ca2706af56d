import { attempt } from '../errors.ts';
import { decodeList } from './decode.ts';
import type { Device } from './device.ts';
import { BodyFailure } from './errors.ts';
import type { Response } from './exchange.ts';
import { jsonIn } from './json.ts';
import type { Profile } from './profile.ts';
import { itemsHint, KEY_NAMES } from './profile-hints.ts';
import { pathsElsewhere } from './record-path.ts';
import { type DeviceRecord, isValueList, isValueObject, nestedValue } from './record.ts';
import { maskedPath } from './sensitive-fields.ts';

export interface FoundList {
  /** What each path answered: `/rest/user (404)`. */
  readonly tried: readonly string[];
  /** Where its records are; undefined if they are nowhere. */
  readonly path?: string;
  /** Where they are in the response, if devsh would not find them there. */
  readonly items?: string | undefined;
}

/** Looks for the records of a resource where devices usually have them. Sends only GET, and after a 401 no login. */
export async function findList(
  device: Device,
  resource: string,
  signal: AbortSignal,
): Promise<FoundList> {
  const tried: string[] = [];
  let isOpen = false;
  for (const path of pathsElsewhere(device.profile, resource).keys()) {
    const request = { method: 'GET', path, ...(isOpen && { isOpen }) } as const;
    const response = await device.raw(request, signal);
    const { status, movedTo = path } = response;
    const list = status < 300 ? listIn(response, resource, device.profile) : undefined;
    if (list !== undefined && list.records.length > 0) {
      return { tried, path: movedTo, ...('items' in list && { items: list.items }) };
    }
    const answer = list ? 'an empty list' : status < 300 ? 'no records' : String(status);
    tried.push(`${maskedPath(path)} (${answer}${isOpen ? ' without a login' : ''})`);
    isOpen ||= status === 401;
  }
  return { tried };
}

/** The list in a response, wherever it is wrapped, if its records have a name. */
function listIn({ body }: Response, resource: string, profile: Profile) {
  const list = attempt(BodyFailure, () => decodeList(body, resource, profile));
  const json = jsonIn(body);
  const items = itemsHint(json)?.value;
  const inner = isValueObject(json) && items !== undefined ? nestedValue(json, items) : undefined;
  if (list !== undefined && list.single !== true && list.records.every(hasName)) return list;
  const nested = isValueList(inner) ? inner.filter(isValueObject) : [];
  return nested.length > 0 && nested.every(hasName) ? { records: nested, items } : undefined;
}

function hasName(record: DeviceRecord): boolean {
  const [likely, other] = KEY_NAMES;
  return Object.keys(record).some((field) => likely?.test(field) ?? other?.test(field));
}
