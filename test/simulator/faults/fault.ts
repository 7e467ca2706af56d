import type { ConnectionBehavior } from '../faulty-listener.ts';
import type { Wire } from './transmit.ts';
import type { Site } from '../dialects/site.ts';
import type { ApiResponse, ApiRequest } from '../../../src/simulator/view.ts';

/**
 * A fault as data, with the function that does it. `stage` is where it strikes: the connection; the
 * request, before it is executed; the effect of a write; the content of a list; the transmission of the
 * response, after a write has been executed.
 */
export type Fault = ConnectionFault | RequestFault | WriteFault | ListFault | ResponseFault;
export type FaultStage = Fault['stage'];

interface Named {
  readonly name: string;
  /** One sentence. */
  readonly summary: string;
  /** Only requests with these methods. Default: all. */
  readonly methods?: readonly string[];
  /** Strikes one request, unless a count is given. */
  readonly isOnce?: true;
}

export interface ConnectionFault extends Named, ConnectionBehavior {
  readonly stage: 'connection';
}

export interface RequestFault extends Named {
  readonly stage: 'request';
  /** `taken`: the fault handled the wire, and there is no response. Undefined: it does not strike. */
  readonly reply: (request: ApiRequest, wire: Wire) => ApiResponse | 'taken' | undefined;
}

/** A write that a fault executes in its own way. */
export interface WriteCall {
  readonly site: Site;
  readonly request: ApiRequest;
  readonly later: (delayMs: number, run: () => void) => void;
}

export interface WriteFault extends Named {
  readonly stage: 'write';
  readonly execute: (call: WriteCall) => ApiResponse;
}

/** Rewrites a bare array in a successful GET; other envelopes stay unchanged. */
export interface ListFault extends Named {
  readonly stage: 'list';
  /** `text`: the correct body. */
  readonly rewrite: (records: readonly object[], text: string, request: ApiRequest) => string;
}

interface FaultWire extends Wire {
  readonly changeCertificate: () => void;
}

export interface ResponseFault extends Named {
  readonly stage: 'answer';
  readonly transmit: (wire: FaultWire, response: ApiResponse) => void;
  /** The log shows no response. */
  readonly isLost?: true;
}

/** The documented API knows only POST, other dialects all of them. */
export const CHANGES = ['POST', 'PUT', 'PATCH'] as const;
export const WRITES = [...CHANGES, 'DELETE'] as const;

/** A fault whose name is a literal type, for `FaultName`. */
type Row<Of extends Fault, Name extends string> = Of & { readonly name: Name };

export function atConnection<const Name extends string>(
  name: Name,
  summary: string,
  behavior: ConnectionBehavior,
): Row<ConnectionFault, Name> {
  return { stage: 'connection', name, summary, ...behavior };
}

export function atRequest<const Name extends string>(
  name: Name,
  summary: string,
  reply: RequestFault['reply'],
): Row<RequestFault, Name> {
  return { stage: 'request', name, summary, reply };
}

export function atWrite<const Name extends string>(
  name: Name,
  summary: string,
  methods: readonly string[],
  execute: WriteFault['execute'],
): Row<WriteFault, Name> {
  return { stage: 'write', name, summary, methods, execute };
}

export function atList<const Name extends string>(
  name: Name,
  summary: string,
  rewrite: ListFault['rewrite'],
): Row<ListFault, Name> {
  return { stage: 'list', name, summary, methods: ['GET'], rewrite };
}

export function atResponse<const Name extends string>(
  name: Name,
  summary: string,
  transmit: ResponseFault['transmit'],
): Row<ResponseFault, Name> {
  return { stage: 'answer', name, summary, transmit };
}
