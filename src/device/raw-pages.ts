import { decodeList } from './decode.ts';
import { DeclinedFailure, DecodeFailure } from './errors.ts';
import type { DecodedList } from './json-records.ts';
import type { Device } from './device.ts';
import type { Answer } from './exchange.ts';
import { pageMarksInHeaders } from './paging.ts';
import { readPages } from './pages.ts';
import type { DeviceRecord } from './record.ts';
import { answerError, decodeError } from './translate.ts';

/** What a query calls the page that it asks for. */
const PAGE_NAME = /^(?:page|current|offset|start|cursor|after|\$?skip)$/i;

/**
 * All records of a list of which `first`, the answer to a GET of `path`, is one page of several;
 * undefined when it is the only one, no list at all, or the path itself asks for a page. Throws
 * DeviceError rather than leave records out.
 *
 * @param onPage gets each further page as it comes
 */
export async function allPages(
  device: Device,
  path: string,
  first: Answer,
  onPage: (answer: Answer) => void,
  signal?: AbortSignal,
): Promise<readonly DeviceRecord[] | undefined> {
  const { profile, ref } = device;
  const [place = '', query] = path.split('?', 2);
  const asksForPage = [...new URLSearchParams(query).keys()].some((name) => PAGE_NAME.test(name));
  if (first.status >= 300 || asksForPage) return undefined;
  const resource = place.split('/').findLast((part) => part !== '') ?? '';
  const decode = ({ headers, body }: Answer): DecodedList => ({
    ...pageMarksInHeaders(headers),
    ...decodeList(body, resource, profile),
  });
  let list: DecodedList;
  try {
    list = decode(first);
  } catch (error) {
    if (isFailure(error)) return undefined;
    throw error;
  }
  let hasFirst = false;
  const read = async (page: string): Promise<DecodedList> => {
    if (!hasFirst) {
      hasFirst = true;
      return list;
    }
    const answer = await device.raw({ method: 'GET', path: page }, signal);
    const request = { method: 'GET', path: page } as const;
    const circumstances = { device: ref, credential: undefined, request };
    if (answer.status >= 300) throw answerError(circumstances, answer);
    try {
      const further = decode(answer);
      onPage(answer);
      return further;
    } catch (error) {
      if (isFailure(error)) throw decodeError(circumstances, answer, error);
      throw error;
    }
  };
  const facts = { ...profile.list, path };
  const known = profile.resources[resource]?.pageStep;
  const listing = await readPages(path, ref, read, { facts, known, maxMs: device.pagesTimeMs });
  return listing.paging === undefined ? undefined : listing.records;
}

function isFailure(error: unknown): error is DecodeFailure | DeclinedFailure {
  return error instanceof DecodeFailure || error instanceof DeclinedFailure;
}
