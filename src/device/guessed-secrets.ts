import { isNested, isTimeStamp, type Value } from './record.ts';
import { verdictOnName } from './secret-names.ts';

/** Whether a plain value may be a secret: closed by its name, or a code whose name says nothing. */
export function mayBeSecretValue(name: string, value: Value): boolean {
  if (isNested(value) || value === null || typeof value === 'boolean' || value === '') return false;
  const { secrecy, saysWhat } = verdictOnName(name);
  const isSecret = secrecy !== 'open';
  if (typeof value !== 'string') return isSecret && String(value).length > 3;
  if (isSecret) return !isPublicText(value);
  if (value.length < LEAST_CODE) return false;
  const start = value.slice(0, MOST_LOOKED_AT);
  return PRIVATE_KEY.test(start) || JWT.test(start) || (!saysWhat && isCode(start));
}

/** A path of words and an id at its end: `/api/keys/3/`. Base64 may begin with a slash, too. */
const REFERENCE = /^\/(?:[a-z][a-z\d_.-]+\/)+[\w.%-]*\/?$/;

/** Dates, addresses of pages, fingerprints, entity tags, public keys and certificates, communities of BGP. */
const PUBLIC_TEXT =
  /^(?:\d{4}-\d\d-\d\d$|https?:\/\/[^@]*$|(?:SHA256|MD5):|(?:[0-9a-f]{2}:){5,}[0-9a-f]{2}$|W\/"|(?:ssh|ecdsa|sk)-\S+ AAAA|-----BEGIN (?:[A-Z]+ )?(?:PUBLIC KEY|CERTIFICATE|SSH2 PUBLIC)|\d+(?::\d+)+$|[*\u2022\u25cf]+$)/i;

function isPublicText(text: string): boolean {
  return isTimeStamp(text) || REFERENCE.test(text) || PUBLIC_TEXT.test(text);
}

/** A text of megabytes looks at its start as it looks at its end. */
const MOST_LOOKED_AT = 4_096;
/** Shorter codes are too often names. */
const LEAST_CODE = 32;
const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY/;
const JWT = /^eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*$/;
const HEX = /^[0-9a-f]+$/i;
const BASE64 = /^[\w+/-]+={0,2}$/;

/** Long hexadecimal or base64: letters of both kinds and digits change all the time, as in no word. */
function isCode(text: string): boolean {
  if (HEX.test(text)) return /\d/.test(text) && /[a-f]/i.test(text);
  if (!BASE64.test(text)) return false;
  const longest = Math.max(...text.split(/[-_/+=]/).map(({ length }) => length));
  const kinds = text.replace(/[a-z]/g, 'a').replace(/[A-Z]/g, 'A').replace(/\d/g, '0');
  const changes = Array.from(kinds.matchAll(/(.)(?!\1)/g)).length;
  return (
    longest >= 12 &&
    /A/.test(kinds) &&
    /a/.test(kinds) &&
    /0/.test(kinds) &&
    changes > text.length / 3
  );
}
