import { isNested, isTimeStamp, type Value } from './record.ts';

/** Names of fields that somebody has looked at: they are no secrets. */
const opened = new Set<string>();

/** What a profile states as `fields.public`; undefined: as at the start of a program. */
export function openFields(names: readonly string[] | undefined): void {
  if (names === undefined) opened.clear();
  for (const name of names ?? []) opened.add(name);
  verdicts.clear();
}

/** The last word of names of secrets. */
const SECRET_WORD =
  /^(?:pass|pw|pwd|psk|key|communit(?:y|ie)|hash(?:e)?|salt|token|secret|otp|pin|passphrase|credential)s?$/;

/** What stands before that word where it means something public: `public_key`, `commit_hash`, `gpio_pin`. */
const PUBLIC_QUALIFIER =
  /^(?:public|pub|primary|foreign|sort|partition|routing|lookup|cache|natural|unique|index|translation|message|object|properties|binding|parent|group|map|host|known|authorized|trusted|ssh|gpg|pgp|commit|git|content|config|file|image|firmware|block|body|tree|build|query|state|next|previous|prev|page|continuation|first|second|low|high|band|all|gpio|cert|certificate|spki|bgp|extended|large|standard|max|min|num|number|count|total|has|is|use|requires?|needs?|allow|send|origin|fingerprint|checksum|md5|sha\d*)$/;

/** Words that say what a long code is: not a secret. */
const SAYS_WHAT =
  /^(?:u?u?ids?|guid|name|user(?:name)?|login|host(?:name)?|label|title|e?mail|fingerprint|thumbprint|etag|checksum|crc\d*|digest|sha\d*|md5|serial|sn|version|revision|rev|commit|build|ur[il]|href|links?|paths?|file(?:name)?|dn|mac|address|addr|duid|iaid|[as]kid|eui\d*|cert(?:ificate)?s?|crt|ca|chain|public|pub(?:key)?s?|ssh|sig(?:nature)?|image|icon|avatar|photo|picture|logo|cursor|next|prev(?:ious)?|ref(?:erence)?s?|self|model|type|device|hash(?:es)?|object|node|uri)$/;

/** Cached, because lists of many records ask for the same few names. */
const verdicts = new Map<string, { readonly isSecret: boolean; readonly saysWhat: boolean }>();
const MAX_CACHED = 1_000;

function verdictOn(name: string): { readonly isSecret: boolean; readonly saysWhat: boolean } {
  const known = verdicts.get(name);
  if (known !== undefined) return known;
  const words = wordsOf(name);
  const last = words.at(-1) ?? '';
  const isOpen = opened.has(name) || opened.has(name.slice(name.lastIndexOf('.') + 1));
  const isPublic = words.slice(0, -1).some((word) => PUBLIC_QUALIFIER.test(word));
  const verdict = {
    isSecret: !isOpen && SECRET_WORD.test(last) && !isPublic,
    saysWhat: isOpen || words.some((word) => SAYS_WHAT.test(word)),
  };
  if (verdicts.size >= MAX_CACHED) verdicts.clear();
  verdicts.set(name, verdict);
  return verdict;
}

/** `snmpCommunity`, `radius-key2` -> snmp, community; radius, key. */
function wordsOf(name: string): string[] {
  return name
    .replace(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .toLowerCase()
    .split(/[\W_]+/)
    .map((word) => word.replace(/(?<=[a-z]{3})\d+$/, ''))
    .filter((word) => word !== '' && !/^\d+$/.test(word));
}

/** Whether a field may hold a secret, by its name alone: `admin_pass`, `snmpCommunity`, `radius_key`. */
export function mayBeSecretName(name: string): boolean {
  return verdictOn(name).isSecret;
}

/** Whether a plain value may be a secret: closed by its name, or a code whose name says nothing. */
export function mayBeSecretValue(name: string, value: Value): boolean {
  if (isNested(value) || value === null || typeof value === 'boolean' || value === '') return false;
  const { isSecret, saysWhat } = verdictOn(name);
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
