import { MASK } from '../text/one-line.ts';
import { mayBeSecretValue } from './guessed-secrets.ts';
import {
  type DeviceRecord,
  isNested,
  isValueList,
  type Value,
  valueText,
  jsonText,
} from './record.ts';
import { verdictOnName } from './secret-names.ts';
import { createHmac, randomBytes } from 'node:crypto';

/** Whether a field name certainly denotes a secret: `password`, `new_passwd`, `api-key`, `authToken`. */
export function isSecretField(name: string): boolean {
  return verdictOnName(name).secrecy === 'secret';
}

/** A name, quoted in any way, in front of `=`, `:`, an operator of a filter, or the blank after `--password`. */
export const NAME_OF_VALUE =
  /(?<![\w.\\'"-])([\w.\\'"-]+)\s*([!~]?=|[:~]|(?<=--(?:pass(?:word|wd)|secret|api-?key))(?:\s|$))/g;

/** Whether a name is that of a secret, certainly or as far as its words say. */
export function isSecretName(name: string): boolean {
  return verdictOnName(name).secrecy !== 'open';
}

/** Whether a value is masked only because it may be a secret, by its name or by its looks. */
export function isGuess(field: string, value: Value | undefined): boolean {
  if (value === undefined || isNested(value) || isSecretField(field)) return false;
  if (typeof value === 'string' && (isPasswordHash(value) || holdsSecret(value))) return false;
  return mayBeSecretValue(field, value);
}

/** What stands before a secret that is a word of its own: `--token `, `-p`, `-u admin:`, `bob password `. */
const BEFORE_SECRET =
  /(?<!\S)(?:-p\s*|(?:-u\s*|--user[\s=]\s*)[^\s:]+:|--?([\w-]+)(?<!-stdin)\s+|(?<=\S\s+\S+\s+)(passw(?:or)?d|secret)\s+(?!-))(?=\S)/gi;
const ROTATION = /^\s*rotate\s/;
/** `login --token fw1`: the option has no value, and the names of devices are shorter than tokens. */
const TOKEN_OF_LOGIN = /^\s*login\s(?:.*\s)?--token\s+$/;

/** Where the first secret of a typed line begins that no `=` or `:` joins to its name; undefined if there is none. */
export function secretAsWord(line: string): number | undefined {
  for (const { index, 0: text, 1: option, 2: noun } of line.matchAll(BEFORE_SECRET)) {
    const start = index + text.length;
    if (option !== undefined && !isSecretName(option)) continue;
    if (noun !== undefined && ROTATION.test(line)) continue;
    if (TOKEN_OF_LOGIN.test(line.slice(0, start)) && !startsWithToken(line.slice(start))) continue;
    return start;
  }
  return undefined;
}

/** Whether a text begins like a generated token: longer than names of devices, without their dots. */
export function startsWithToken(text: string): boolean {
  return /^["']?[\w+/=-]{20}/.test(text);
}

/** Whether a value, or a part of it at any depth, is masked. */
export function holdsMask(value: Value): boolean {
  if (!isNested(value)) return isMask(value);
  return Object.values(value).some(holdsMask);
}

/** The value to show: secrets are masked unless empty; nested values field by field. */
export function maskedValue(field: string, value: Value, mask?: Mask): Value;
export function maskedValue(field: string, value: Value | undefined): Value | undefined;
export function maskedValue(
  field: string,
  value: Value | undefined,
  mask: Mask = () => MASK,
): Value | undefined {
  if (value === undefined) return undefined;
  if (isMaskedWhole(field, value)) return mask(value);
  if (!isNested(value)) return value;
  return isValueList(value)
    ? value.map((item) => maskedValue(field, item, mask))
    : maskedRecord(value, mask);
}

type Mask = (secret: Value) => string;

/** A natural key as it is shown and stored: of a secret, a digest that finds it again. */
export function shownKey(keyField: string, value: Value | undefined): string {
  const text = valueText(value);
  return isMask(text) || !isMaskedWhole(keyField, value ?? null) ? text : digested(text);
}

/** Also as text, as where all values are text. */
function isBoolean(value: Value): boolean {
  return typeof value === 'boolean' || value === 'true' || value === 'false';
}

function isMaskedWhole(field: string, value: Value): boolean {
  if (value === null || value === '' || isBoolean(value)) return false;
  if (isNested(value) && Object.keys(value).length === 0) return false;
  if (isSecretField(field) || isMask(value)) return true;
  if (typeof value === 'string' && holdsSecret(value)) return true;
  return !isNested(value) && mayBeSecretValue(field, value);
}

/** Masks the secrets of a record; returns it unchanged if it has none, as in most lists. */
export function maskedRecord(record: DeviceRecord, mask?: Mask): DeviceRecord {
  if (!holdsSecret(record)) return record;
  return Object.fromEntries(
    Object.entries(record).map(([field, value]) => [field, maskedValue(field, value, mask)]),
  );
}

/** Also looks into text that is JSON, such as a nested value as typed. `field`: the name of the value. */
export function holdsSecret(value: Value, field = ''): boolean {
  if (typeof value === 'string') {
    return isPasswordHash(value) || (mayBeJson(value) && namesSecret(value));
  }
  if (!isNested(value)) return false;
  if (isValueList(value)) return value.some((item) => isPartSecret(field, item));
  // Not Object.entries: this runs for each of 100,000 records and must not allocate.
  for (const name in value) if (isPartSecret(name, value[name] ?? null)) return true;
  return false;
}

function isPartSecret(name: string, part: Value): boolean {
  return isMaskedWhole(name, part) || (isNested(part) && holdsSecret(part, name));
}

/** In the formats of crypt(3), Django and LDAP; and the seed of one-time passwords. */
const PASSWORD_HASH =
  /^(?:otpauth(?:-migration)?:\/\/|\$(?:[156789]|2[abxy]?|g?y|md5|sha1|scrypt|argon2(?:id|[id])|pbkdf2[\w-]*)\$.*\S|(?:pbkdf2_sha\d+|bcrypt_sha256|argon2)\$.*\$|\{(?:S?SHA\d*|S?MD5|CRYPT|PBKDF2[\w-]*)\}.)/i;

/** Whether a text is a password hash or a seed, whatever its field is called. */
function isPasswordHash(text: string): boolean {
  return text.length > 8 && '$pbaoO{'.includes(text.charAt(0)) && PASSWORD_HASH.test(text);
}

function mayBeJson(text: string): boolean {
  const first = text.charCodeAt(0);
  const isBracket = first === 0x5b || first === 0x7b;
  // Nearly all texts begin with a letter or digit, and blanks without end have no bracket.
  const mayBeBlank = (first <= 0x20 || first >= 0x80) && (text.includes('{') || text.includes('['));
  return isBracket || (mayBeBlank && /^\s*[[{]/.test(text));
}

function namesSecret(json: string): boolean {
  return Array.from(json.matchAll(/"([^"\\]+)\\*"\s*:/g), ([, name = '']) => name).some(
    isSecretName,
  );
}

/** A login in a URL, a header with one, the seed of one-time passwords, a private key, a hash among other words, a tag of XML. */
const SECRET_TEXT =
  /\botpauth(?:-migration)?:\/\/|:\/\/[^/\s:@]*:[^/\s@]+@|\b(?:bearer|basic)\s+(?=\S*[\d=+/])[\w+/=.-]{8,}|-----BEGIN [A-Z ]*PRIVATE KEY|\$(?:[156y]|2[aby]|argon2\w*)\$[^\s$]+\$\S|<([\w-]+)>[^<]/gi;
/** Nearly all texts have none of these. */
const MAY_SHOW_SECRET = /[=:<$]|-----BEGIN|bearer|basic/i;

/** Whether free text, such as a note or a configuration, has a secret in it, as far as its words show that. */
export function showsSecret(text: string): boolean {
  if (!MAY_SHOW_SECRET.test(text)) return false;
  for (const [, tag] of text.matchAll(SECRET_TEXT)) {
    if (tag === undefined || isSecretField(tag)) return true;
  }
  for (const { 0: all, 1: name = '', index } of text.matchAll(NAME_OF_VALUE)) {
    const value = text.slice(index + all.length, index + all.length + 100).trimStart();
    if (isSecretField(name) && value !== '' && !value.startsWith(MASK)) return true;
  }
  return false;
}

export function maskedForm(
  form: readonly (readonly [field: string, text: string])[],
): (readonly [field: string, text: string])[] {
  return form.map(([field, text]) => [field, maskedValue(field, text) === MASK ? MASK : text]);
}

/** A query parameter of a path, also of one in a sentence. */
const PARAMETER = /([?&])([^=&\s]*)=([^&#\s"]*)/g;

/** A path with the values of secret query parameters masked, or replaced by what `instead` returns. */
export function maskedPath(path: string, instead: (name: string) => string = () => MASK): string {
  return path.replace(PARAMETER, (pair, mark: string, name: string) =>
    isSecretField(decoded(name)) ? `${mark}${name}=${instead(decoded(name))}` : pair,
  );
}

/** The values of the secret query parameters of a path, as they are sent and decoded. */
export function secretsInQuery(path: string): string[] {
  return Array.from(path.matchAll(PARAMETER)).flatMap(([, , name = '', text = '']) =>
    isSecretField(decoded(name)) ? [text, decoded(text)] : [],
  );
}

function decoded(text: string): string {
  return new URLSearchParams(`=${text}`).get('') ?? text;
}

/** Shorter secrets occur in too many texts by chance. */
const MIN_LENGTH = 3;
const MIN_ENCODED = 6;

/** In every spelling: a device or proxy may echo them in a form, a URL, JSON, HTML, hexadecimal or base64. */
export function redact(text: string, secrets: readonly string[]): string {
  return redactorOf(secrets)(text);
}

/** The same for many texts: the search for these secrets is prepared once. */
export function redactorOf(secrets: readonly string[]): (text: string) => string {
  const found = secrets.flatMap(spellings).filter((spelling) => spelling.length >= MIN_LENGTH);
  // Longest first, because it may contain a shorter one.
  const sorted = [...new Set(found)].sort((a, b) => b.length - a.length);
  const capitals = sorted.map((spelling) => spelling.toUpperCase());
  let anySpelling: RegExp | undefined;
  return (text) => {
    // The expression takes milliseconds at first. Only an escape hides a spelling from a plain search.
    const inCapitals = text.toUpperCase();
    const mayHold = text.includes('\\') || capitals.some((one) => inCapitals.includes(one));
    if (!mayHold || sorted.length === 0) return text;
    anySpelling ??= new RegExp(sorted.map(spellingPattern).join('|'), 'gi');
    return text.replace(anySpelling, MASK);
  };
}

function spellingPattern(spelling: string): string {
  return spelling.split('').map(unitPattern).join('');
}

/** Matches one UTF-16 unit, as it is or as JSON may escape it. */
function unitPattern(unit: string): string {
  const code = unit.charCodeAt(0).toString(16).padStart(4, '0');
  const plain = unit === '/' ? '\\\\?/' : unit.replace(/[.*+?^${}()|[\]\\]/, '\\$&');
  return `(?:${plain}|\\\\u${code})`;
}

function spellings(secret: string): string[] {
  const inForm = new URLSearchParams([['', secret]]).toString().slice(1);
  // Through UTF-8, because encodeURIComponent rejects an unpaired surrogate.
  const inUrl = encodeURIComponent(Buffer.from(secret, 'utf8').toString('utf8'));
  const sent = [...new Set([secret, inForm, inUrl])];
  return [
    ...sent,
    JSON.stringify(secret).slice(1, -1),
    htmlEscaped(secret, '&quot;', '&#39;'),
    htmlEscaped(secret, '&#34;', '&#x27;'),
    ...sent.flatMap(codesOf).filter((code) => code.length >= MIN_ENCODED),
  ];
}

function codesOf(text: string): string[] {
  const bytes = Buffer.from(text, 'utf8');
  return [bytes.toString('hex'), bytes.toString('base64'), ...base64Codes(bytes)];
}

function htmlEscaped(text: string, quote: string, apostrophe: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', quote)
    .replaceAll("'", apostrophe);
}

/** The characters that encode these bytes alone, at each of the three base64 alignments. */
function base64Codes(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const all = Buffer.concat([Buffer.alloc(offset), bytes]);
    const first = Math.ceil((offset * 8) / 6);
    const last = Math.floor((all.length * 8) / 6);
    return (['base64', 'base64url'] as const).map((code) => all.toString(code).slice(first, last));
  });
}

/** Words in names of fields about rights: `role`, `groups`, `permissions`, `access_level`. */
const RIGHTS =
  /^(?:admin|super|sudo|root|wheel|staff|owner|roles?$|gr(?:ou)?p|perm|priv|scope|levels?$|lvl|access|rights?$|grants?$|capabilit)|(?:admin|super(?:user)?|root|group|role|staff|scope|level|privilege|permission)s?$/;

/** `is_admin`, `canWrite`, `isstaff`. */
const CLAIM = /^(?:is|can|may|has)$|^is(?:active|admin|staff|super|root|owner)/;

/** Words in names of fields that a device manages itself: `canBeDeleted`, `builtin`. */
const INTERNAL =
  /^(?:delet(?:ed|able)|protected|builtin|internal|readonly|system|locked|reserved)$/;

/** Decides by its name (`is_staff`, `userRole`). A false match is harmless: such a field is only never filled in. */
export function isPrivilegeField(name: string): boolean {
  return CLAIM.test(wordsOf(name)[0] ?? '') || isRightsField(name);
}

/** Whether what it holds are rights, by its name; `is_verified` only claims something. */
export function isRightsField(name: string): boolean {
  return wordsOf(name).some((word) => RIGHTS.test(word));
}

/** Whether a device manages the field itself, by its name: `_rev`, `canBeDeleted`, `is_builtin`. */
export function isInternalField(name: string): boolean {
  return /^[^\p{L}\p{N}]/u.test(name) || wordsOf(name).some((word) => INTERNAL.test(word));
}

/** `canBeDeleted`, `can-be-deleted` -> can, be, deleted; `built_in` -> builtin. */
function wordsOf(name: string): string[] {
  return name
    .replace(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .replace(/\b(built|read)[\W_]+(in|only)\b/g, '$1$2')
    .split(/[\W_]+/)
    .filter((word) => word !== '');
}

const ON = '(?:active|enabled?)';
const OFF =
  '(?:disabled?|inactive|deactivated|lock(?:ed|out)?|block(?:ed)?|suspend(?:ed)?|bann?(?:ed)?|revoked?|deleted|archived|frozen|expired)';

/** `is_active`, `ssh_enabled`, `locked_until`, `allowed_ips`, `account_status`, `expires`. */
const STATUS = new RegExp(
  `(?:${ON}|${OFF}|allow(?:ed)?|den(?:y|ied)|expir(?:es|y|ation)|valid|until|nologin|shell)(?:until|at|on|from|to|date|flag|hosts?|ips?)?$|^(?:is|account|acct|user|login)*(?:status|state)$`,
);
/** Excludes second factors: enabling one locks out users who have none. */
const PERMITS = new RegExp(`(?<!fa|otp|factor|in)${ON}$`);
const FORBIDS = new RegExp(`${OFF}$`);
const SWITCH = new RegExp(`^(?:is|account|acct|user|login)*(?:${ON}|${OFF})$`);

/** Whether a field controls if, until when or from where an account may log in, by its name. */
export function isStatusField(name: string): boolean {
  return STATUS.test(lettersOf(name));
}

/** The value that permits more: true for `is_active`, false for `locked`; undefined for other fields. */
export function permittingValue(name: string): boolean | undefined {
  const letters = lettersOf(name);
  if (FORBIDS.test(letters)) return false;
  return PERMITS.test(letters) ? true : undefined;
}

/** In the spelling of the current value; undefined for other fields and unknown spellings. */
export function disablingValue(name: string, current: Value): Value | undefined {
  if (!SWITCH.test(lettersOf(name))) return undefined;
  const [no, yes] = SPELLINGS.find((spelling) => spelling.includes(current)) ?? [];
  return permittingValue(name) === true ? no : yes;
}

const SPELLINGS: readonly (readonly [no: Value, yes: Value])[] = [
  [false, true],
  ['false', 'true'],
  ['False', 'True'],
  [0, 1],
  ['0', '1'],
  ['no', 'yes'],
  ['off', 'on'],
];

export function lettersOf(name: string): string {
  return name.toLowerCase().replace(/[^a-z]/g, '');
}

const MARK_LENGTH = 2;
const LENGTH = 10;

let load: () => Buffer | undefined = () => undefined;
let known: Buffer | undefined;

/** The key of this machine, read on first use. Without one, digests hold only in this process. */
export function digestWith(key: () => Buffer | undefined): void {
  [load, known] = [key, undefined];
}

/** Stands for a secret: the mask, a mark of the key, and a keyed digest. The same secret has the same one. */
export function digested(value: Value): string {
  return `${MASK}${mac('mark', MARK_LENGTH)}${mac(jsonText(['name', value]), LENGTH)}`;
}

/** What a journal has in the place of a secret. Of a nested one only the mask: a device may order its parts anew. */
export function journaled(secret: Value): string {
  if (isNested(secret)) return MASK;
  return isMask(secret) ? secret : digested(secret);
}

/** Whether a value is a mask, with or without a digest. */
export function isMask(value: Value | undefined): value is string {
  return typeof value === 'string' && value.startsWith(MASK) && MASKED.test(value);
}

const MASKED = new RegExp(`^\\*{3}(?:[\\w-]{${MARK_LENGTH + LENGTH}})?$`);

/** Whether a mask has a digest by the key of this machine. */
export function isComparable(mask: Value | undefined): boolean {
  return isMask(mask) && mask.startsWith(mac('mark', MARK_LENGTH), MASK.length);
}

function mac(text: string, length: number): string {
  known ??= load() ?? randomBytes(32);
  return createHmac('sha256', known).update(text).digest('base64url').slice(0, length);
}
