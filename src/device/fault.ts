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
  const reason =
    TLS_WORDS[code] ?? ('reason' in error && typeof error.reason === 'string' ? error.reason : '');
  const detail = reason || (DETAIL_OF_CODE[code] ?? error.message);
  return kind && new TransportFault(kind, detail, { sent, cause: error });
}

/** Where undici's own words would tell the user nothing. */
const DETAIL_OF_CODE: Readonly<Record<string, string>> = {
  UND_ERR_HEADERS_OVERFLOW: 'its headers are longer than 16 KiB',
};

/** What OpenSSL's reasons for no TLS at all mean. */
const TLS_WORDS: Readonly<Record<string, string>> = {
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
