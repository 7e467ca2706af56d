import { answer } from './api.ts';
import type { FaultSwitches } from './fault-switches.ts';
import type { Writing } from './faults/fault.ts';
import type { Wire } from './transmit.ts';
import type { ApiAnswer, ApiRequest } from './view.ts';

/** A request with everything that a fault may want to know of it. */
export interface Struck extends Writing {
  readonly wire: Wire;
  /** Another write was served before. */
  readonly isAfterWrite: boolean;
}

/** What the device answers with its faults; `taken`: nothing at all. */
export function answerFor(faults: FaultSwitches, struck: Struck): ApiAnswer | 'taken' {
  const { site, request, wire, isAfterWrite } = struck;
  const about = { method: request.method, isAfterWrite };
  const instead = faults.take('request', about)?.reply(request, wire);
  if (instead !== undefined) return instead;
  const fault = faults.take('write', about);
  const reply = fault === undefined ? answer(site, request) : fault.carryOut(struck);
  const list = isList(request, reply) ? faults.take('list', about) : undefined;
  if (list === undefined) return reply;
  const records = JSON.parse(reply.body) as object[];
  return { ...reply, body: list.rewrite(records, reply.body, request) };
}

/** Whether an answer is a bare list of records. */
function isList({ method }: ApiRequest, { status, body }: ApiAnswer): boolean {
  return method === 'GET' && status === 200 && body.startsWith('[');
}
