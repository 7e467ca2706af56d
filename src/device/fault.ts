/** What went wrong between devsh and a device before there was a whole answer. */
export type FaultKind =
  | 'name' // the name does not resolve
  | 'refused'
  | 'no route'
  | 'route' // the proxy or the jump host failed, not the device
  | 'connect timeout'
  | 'tls'
  | 'old tls' // nothing newer than TLS 1.1
  | 'reset' // the connection broke or was closed before the whole answer
  | 'wrong length' // more or less came than Content-Length says, or it is said twice
  | 'cut off' // the answer ended, but nothing says that it is whole
  | 'timeout'
  | 'too large'
  | 'malformed' // not HTTP
  | 'encoding'; // compressed in a way that cannot be undone

/** A failed exchange, still without a device's name; `translate.ts` makes it an error to show. */
export class TransportFault extends Error {
  readonly kind: FaultKind;
  /** Whether any byte of the request may have left: a write may have been carried out. */
  readonly sent: boolean;
  /** HTTP status, when the answer came that far. */
  readonly status: number | undefined;

  constructor(
    kind: FaultKind,
    detail: string,
    options: { sent: boolean; status?: number | undefined } & ErrorOptions,
  ) {
    super(detail, options);
    this.kind = kind;
    this.sent = options.sent;
    this.status = options.status;
  }
}

const KIND_OF_CODE: Readonly<Record<string, FaultKind>> = {
  ENOTFOUND: 'name',
  EAI_AGAIN: 'name',
  EAI_FAIL: 'name',
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'no route',
  ENETUNREACH: 'no route',
  EHOSTDOWN: 'no route',
  EADDRNOTAVAIL: 'no route',
  EINVAL: 'no route',
  EACCES: 'no route',
  EPERM: 'no route',
  ERR_SSL_UNSUPPORTED_PROTOCOL: 'old tls',
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: 'old tls',
  ETIMEDOUT: 'connect timeout',
  ECONNRESET: 'reset',
  ECONNABORTED: 'reset',
  EPIPE: 'reset',
  UND_ERR_SOCKET: 'reset',
  UND_ERR_DESTROYED: 'reset',
  UND_ERR_CLOSED: 'reset',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'wrong length',
  UND_ERR_HEADERS_OVERFLOW: 'too large',
  UND_ERR_RES_EXCEEDED_MAX_SIZE: 'too large',
};

/** The fault behind an error of a socket or of undici; undefined when it is none of theirs. */
export function faultOf(error: unknown, sent: boolean): TransportFault | undefined {
  if (error instanceof TransportFault) return error;
  if (!(error instanceof Error)) return undefined;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const kind = KIND_OF_CODE[code] ?? kindOfFamily(error, code);
  // OpenSSL's message holds addresses and file names; its reason is what it means.
  const reason = 'reason' in error && typeof error.reason === 'string' ? error.reason : '';
  const detail = DETAIL_OF_CODE[code] ?? (reason || error.message);
  return kind && new TransportFault(kind, detail, { sent, cause: error });
}

/** Where the words of undici and OpenSSL would tell the user nothing. */
const DETAIL_OF_CODE: Readonly<Record<string, string>> = {
  UND_ERR_HEADERS_OVERFLOW: 'its headers are longer than 16 KiB',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it answers with something that is not TLS',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'it answers with something that is not TLS',
};

function kindOfFamily({ name, message }: Error, code: string): FaultKind | undefined {
  // undici 7 leaves the code of a parser error undefined: its words are all that there is.
  const isEarlyEnd = name === 'HTTPParserError' && message.includes('(Invalid EOF state)');
  if (isEarlyEnd || code === 'HPE_INVALID_EOF_STATE') return 'reset';
  if (code.startsWith('HPE_') || name === 'HTTPParserError') return 'malformed';
  if (/^(?:ERR_SSL_|ERR_TLS_|ERR_OSSL_|EPROTO$)/.test(code)) return 'tls';
  return undefined;
}

/** How often is looked whether this process gets its turns, as long as something is waited for. */
const BEAT_MS = 50;

/** A beat that is later than that was held up by our own work, or by others on this machine. */
const LATE_MS = 100;

let openCount = 0;
let beat: NodeJS.Timeout | undefined;
let lastBeatAt = 0;
let heldUpMs = 0;

/**
 * Calls `expire` after `limitMs` of waiting, unless the function that it gives is called before. Times in
 * which this process could not look at what had arrived are not the device's: they do not count, and
 * after them there is always a turn in which it is looked at.
 */
export function startDeadline(limitMs: number, expire: () => void): () => void {
  if (openCount === 0) startBeating();
  openCount += 1;
  const startedAt = performance.now();
  const heldUpBefore = heldUp();
  const check = (): void => {
    const waitedMs = performance.now() - startedAt - (heldUp() - heldUpBefore);
    // Timers count in whole milliseconds, and may be a part of one early.
    if (waitedMs < limitMs - 1) {
      timer = setTimeout(check, limitMs - waitedMs);
      return;
    }
    stop();
    expire();
  };
  let timer = setTimeout(check, limitMs);
  let isOpen = true;
  const stop = (): void => {
    clearTimeout(timer);
    if (!isOpen) return;
    isOpen = false;
    openCount -= 1;
    if (openCount === 0) clearInterval(beat);
  };
  return stop;
}

function startBeating(): void {
  lastBeatAt = performance.now();
  beat = setInterval(() => {
    heldUpMs = heldUp();
    lastBeatAt = performance.now();
  }, BEAT_MS);
  // Who waits has a timer of its own.
  beat.unref();
}

/** For how long in all, and just now, no beat came. */
function heldUp(): number {
  const lateMs = performance.now() - lastBeatAt - BEAT_MS;
  return heldUpMs + (lateMs > LATE_MS ? lateMs : 0);
}
