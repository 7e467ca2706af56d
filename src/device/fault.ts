import { type Note, textOf } from '../output/sentences.ts';

/** What failed between devsh and a device before a whole response arrived. */
export type FaultKind =
  | 'name' // the name does not resolve
  | 'refused'
  | 'no route'
  | 'route' // the proxy or the jump host failed
  | 'connect timeout'
  | 'tls'
  | 'old tls' // nothing newer than TLS 1.1
  | 'reset' // the connection broke or was closed before the whole answer
  | 'wrong length' // not the Content-Length, or two of them
  | 'cut off' // the response ended without a sign that it is whole
  | 'timeout'
  | 'too large'
  | 'malformed' // not HTTP
  | 'encoding'; // unsupported or broken compression

/** A failed exchange, without the device name; `translate.ts` turns it into a DeviceError. */
export class TransportFault extends Error {
  readonly kind: FaultKind;
  /** Whether any byte of the request may have been sent: a write may have been executed. */
  readonly sent: boolean;
  /** HTTP status, if it arrived. */
  readonly status: number | undefined;

  constructor(
    kind: FaultKind,
    detail: Note | string,
    options: { sent: boolean; status?: number | undefined } & ErrorOptions,
  ) {
    super(textOf(detail), options);
    this.kind = kind;
    this.sent = options.sent;
    this.status = options.status;
  }
}

/** The codes of Node, OpenSSL and undici by what they mean. */
const CODES: Partial<Readonly<Record<FaultKind, string>>> = {
  name: 'ENOTFOUND EAI_AGAIN EAI_FAIL',
  refused: 'ECONNREFUSED',
  'no route': 'EHOSTUNREACH ENETUNREACH EHOSTDOWN EADDRNOTAVAIL EINVAL EACCES EPERM',
  'old tls': 'ERR_SSL_UNSUPPORTED_PROTOCOL ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION',
  'connect timeout': 'ETIMEDOUT',
  reset: 'ECONNRESET ECONNABORTED EPIPE UND_ERR_SOCKET UND_ERR_DESTROYED UND_ERR_CLOSED',
  'wrong length': 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
  'too large': 'UND_ERR_HEADERS_OVERFLOW UND_ERR_RES_EXCEEDED_MAX_SIZE',
};
const KIND_OF_CODE = new Map(
  (Object.entries(CODES) as [FaultKind, string][]).flatMap(([kind, codes]) =>
    codes.split(' ').map((code) => [code, kind] as const),
  ),
);

/** The fault for an error of a socket or of undici; undefined for other errors. */
export function faultOf(error: unknown, sent: boolean): TransportFault | undefined {
  if (error instanceof TransportFault) return error;
  if (!(error instanceof Error)) return undefined;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const kind = KIND_OF_CODE.get(code) ?? kindOfFamily(error, code);
  // OpenSSL's message has addresses and file names; its reason is readable.
  const reason = 'reason' in error && typeof error.reason === 'string' ? error.reason : '';
  const detail = DETAIL_OF_CODE[code] ?? (reason || error.message);
  return kind && new TransportFault(kind, detail, { sent, cause: error });
}

/** Replaces messages of undici and OpenSSL that do not help the user. */
const DETAIL_OF_CODE: Readonly<Record<string, Note>> = {
  UND_ERR_HEADERS_OVERFLOW: { code: 'transfer', is: 'headers' },
  ERR_SSL_WRONG_VERSION_NUMBER: { code: 'transfer', is: 'no-tls' },
  ERR_SSL_PACKET_LENGTH_TOO_LONG: { code: 'transfer', is: 'no-tls' },
};

function kindOfFamily({ name, message }: Error, code: string): FaultKind | undefined {
  // undici leaves the code of a parser error undefined, so only the message remains.
  const isEarlyEnd = name === 'HTTPParserError' && message.includes('(Invalid EOF state)');
  if (isEarlyEnd || code === 'HPE_INVALID_EOF_STATE') return 'reset';
  if (code.startsWith('HPE_') || name === 'HTTPParserError') return 'malformed';
  if (/^(?:ERR_SSL_|ERR_TLS_|ERR_OSSL_|EPROTO$)/.test(code)) return 'tls';
  return undefined;
}

/** How often the event loop is checked while a deadline runs. */
const TICK_MS = 50;

/** The most that counts between two ticks: a later tick means that this process or machine was busy. */
const STEP_MS = 150;

/** The deadlines that run. All share one timer, because a fleet starts several per device. */
const running = new Set<Deadline>();
let ticker: NodeJS.Timeout | undefined;
let lastTickAt = 0;
/** By `awakeMs`, at the last tick. */
let countedMs = 0;

/** Calls `expire` once after `limitMs`, unless it is stopped. Time in which this process was blocked does not count. */
export class Deadline {
  readonly #expire: () => void;
  #endsAt: number;

  constructor(limitMs: number, expire: () => void) {
    if (running.size === 0) startTicker();
    running.add(this);
    this.#expire = expire;
    this.#endsAt = awakeMs() + limitMs;
  }

  /** Ends `limitMs` from now instead; only while it runs. */
  extend(limitMs: number): void {
    this.#endsAt = awakeMs() + limitMs;
  }

  stop(): void {
    if (running.size === 1 && running.has(this)) {
      countTime();
      clearInterval(ticker);
    }
    running.delete(this);
  }

  /** @param now by `awakeMs` */
  check(now: number): void {
    if (now < this.#endsAt) return;
    this.stop();
    this.#expire();
  }
}

/** Milliseconds in which this process was not blocked while a deadline ran; it never goes back. Use differences. */
export function awakeMs(): number {
  const sinceMs = performance.now() - lastTickAt;
  return countedMs + (running.size === 0 ? sinceMs : Math.min(sinceMs, STEP_MS));
}

function startTicker(): void {
  countTime();
  ticker = setInterval(() => {
    const beforeMs = countedMs;
    const isLate = performance.now() - lastTickAt > STEP_MS;
    countTime();
    for (const deadline of running) deadline.check(isLate ? beforeMs : countedMs);
  }, TICK_MS);
}

function countTime(): void {
  [countedMs, lastTickAt] = [awakeMs(), performance.now()];
}
