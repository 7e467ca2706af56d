import type { Socket } from 'node:net';
import type { TlsOptions } from 'node:tls';
import type { Validity } from '../certificate.ts';
import type { Wire } from '../transmit.ts';
import type { ApiAnswer, ApiRequest, Site } from '../view.ts';

/**
 * What a device can do wrong, as data with the one function that does it. `stage` says where it
 * strikes: the connection itself; the request, before anything is carried out; what a write does; what
 * a list says; how the answer goes out, after a write has been carried out.
 */
export type Fault = ConnectionFault | RequestFault | WriteFault | ListFault | AnswerFault;
export type FaultStage = Fault['stage'];

interface Named {
  readonly name: string;
  /** One sentence. */
  readonly summary: string;
  /** Only requests with these methods; all when absent. */
  readonly methods?: readonly string[];
  /** It strikes one request, unless it is told how many. */
  readonly isOnce?: true;
}

/** Is on or off; sees no requests. */
export interface ConnectionFault extends Named, ConnectionStrike {
  readonly stage: 'connection';
}

export interface ConnectionStrike {
  /** Nothing listens on the port. */
  readonly isClosed?: true;
  /** While a connection is open, a second one is closed at once. */
  readonly isSingle?: true;
  /** Instead of TLS. */
  readonly greet?: (socket: Socket) => void;
  /** As soon as TLS is ready; the socket below it. */
  readonly greetSecured?: (socket: Socket) => void;
  readonly tls?: TlsOptions;
  /** Another certificate than the first one. */
  readonly certificate?: {
    readonly isForOthers?: true;
    readonly validity?: Validity;
  };
}

export interface RequestFault extends Named {
  readonly stage: 'request';
  /** `taken`: the wire has been dealt with, there is no answer. Undefined: it does not strike. */
  readonly reply: (request: ApiRequest, wire: Wire) => ApiAnswer | 'taken' | undefined;
}

/** A write, to be carried out in one way or another. */
export interface Writing {
  readonly site: Site;
  readonly request: ApiRequest;
  readonly later: (delayMs: number, run: () => void) => void;
}

export interface WriteFault extends Named {
  readonly stage: 'write';
  readonly runStep: (writing: Writing) => ApiAnswer;
}

/** The answer to a successful GET of a list that is a bare array; other envelopes stay as they are. */
export interface ListFault extends Named {
  readonly stage: 'list';
  /** `text`: the body as it should be. */
  readonly rewrite: (records: readonly object[], text: string, request: ApiRequest) => string;
}

export interface AnswerFault extends Named {
  readonly stage: 'answer';
  readonly transmit: (wire: Wire, answer: ApiAnswer) => void;
  /** The log says that there was no answer. */
  readonly isLost?: true;
}

/** What changes a record; the documented API knows only POST, other dialects all of them. */
export const CHANGES = ['POST', 'PUT', 'PATCH'] as const;
export const WRITES = [...CHANGES, 'DELETE'] as const;

/** A row of a table of faults: its name stays a literal, so that the names of all make a type. */
type Row<Of extends Fault, Name extends string> = Of & { readonly name: Name };

export function atConnection<const Name extends string>(
  name: Name,
  summary: string,
  strike: ConnectionStrike,
): Row<ConnectionFault, Name> {
  return { stage: 'connection', name, summary, ...strike };
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
  runStep: WriteFault['runStep'],
): Row<WriteFault, Name> {
  return { stage: 'write', name, summary, methods, runStep: runStep };
}

export function atList<const Name extends string>(
  name: Name,
  summary: string,
  rewrite: ListFault['rewrite'],
): Row<ListFault, Name> {
  return { stage: 'list', name, summary, methods: ['GET'], rewrite };
}

export function atAnswer<const Name extends string>(
  name: Name,
  summary: string,
  transmit: AnswerFault['transmit'],
): Row<AnswerFault, Name> {
  return { stage: 'answer', name, summary, transmit };
}
