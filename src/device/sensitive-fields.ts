import { type DeviceRecord, isValueList, type Value } from './record.ts';

/** What stands in plans, the journal and the history instead of a secret. */
export const MASK = '***';

/** What stands for a password or can be made into one: the kinds of hashes, and what they are made with. */
const HASH =
  '(?:hash(?:ed|es)?|digest|crypt(?:ed)?|salt|md5|sha\\d*|bcrypt|scrypt|pbkdf2|argon2i?d?)';

const SECRET_NAME = new RegExp(
  `(?:(?:password|passwd|passphrase|passcode|pwd|secret|token|credential|psk)s?(?:${HASH}|key|history|confirm|confirmation|again|\\d+)?|` +
    '(?:api|private|shared|derived|stored|server|master|encryption|signing|recovery)keys?|' +
    `^pw|(?:user|auth|login|old|new)(?:pw|pass)|(?:pass|pw|nt|lm|ntlm)${HASH}|salt|` +
    '(?:recovery|backup|scratch|rescue)(?:code|word|phrase)s?|(?:otp|mfa|2fa)(?:seed|key))$',
);

/** Lists of many records ask for the same few names again and again. */
const judged = new Map<string, boolean>();
const MOST_JUDGED = 1_000;

/** Whether a field holds a secret, by its name: `password`, `new_passwd`, `api-key`, `authToken`. */
export function isSecretField(name: string): boolean {
  const known = judged.get(name);
  if (known !== undefined) return known;
  const isSecret = SECRET_NAME.test(name.toLowerCase().replace(/[^a-z0-9]/g, ''));
  if (judged.size >= MOST_JUDGED) judged.clear();
  judged.set(name, isSecret);
  return isSecret;
}

const SECRET_WORD = /pass(?:word|wd|code|phrase)|secret|token|api[_-]?key|authorization/i;

/** The same, in case of doubt: for a line that is not kept a name too many does no harm. */
export function mayBeSecretField(name: string): boolean {
  return isSecretField(name) || SECRET_WORD.test(name);
}

/**
 * The value to show for a field: masked when it is a secret, unless there is nothing to hide; inside a
 * nested value field by field.
 */
export function maskedValue(field: string, value: Value): Value {
  if (isSecretField(field) && value !== '' && value !== null) return MASK;
  if (typeof value === 'string' && (isPasswordHash(value) || holdsSecret(value))) return MASK;
  if (typeof value !== 'object' || value === null) return value;
  return isValueList(value) ? value.map((item) => maskedValue('', item)) : maskedRecord(value);
}

/** A record with its secrets masked; itself where there are none, as in most lists. */
export function maskedRecord(record: DeviceRecord): DeviceRecord {
  if (!holdsSecret(record)) return record;
  return Object.fromEntries(
    Object.entries(record).map(([field, value]) => [field, maskedValue(field, value)]),
  );
}

/** Also in a text that is JSON: a nested value as it was typed. */
function holdsSecret(value: Value): boolean {
  if (typeof value === 'string') {
    return isPasswordHash(value) || (mayBeJson(value) && namesSecret(value));
  }
  if (typeof value !== 'object' || value === null) return false;
  if (isValueList(value)) return value.some(holdsSecret);
  // Not Object.entries: this is asked of each of 100,000 records, and makes nothing.
  for (const field in value) {
    if (isSecretField(field) || holdsSecret(value[field] ?? null)) return true;
  }
  return false;
}

/** As crypt(3), Django and LDAP write them. */
const PASSWORD_HASH =
  /^(?:\$(?:[156789]|2[abxy]?|g?y|md5|sha1|scrypt|argon2(?:id|[id])|pbkdf2[\w-]*)\$.*\S|(?:pbkdf2_sha\d+|bcrypt_sha256|argon2)\$.*\$|\{(?:S?SHA\d*|S?MD5|CRYPT|PBKDF2[\w-]*)\}.)/i;

/** Whether a text is the hash of a password, whatever the field is called that has it. */
function isPasswordHash(text: string): boolean {
  return text.length > 8 && /^[$pba{]/.test(text) && PASSWORD_HASH.test(text);
}

function mayBeJson(text: string): boolean {
  const first = text.charCodeAt(0);
  const isBracket = first === 0x5b || first === 0x7b;
  // Nearly all texts begin with a letter or a digit: these need no expression.
  return isBracket || ((first <= 0x20 || first >= 0x80) && /^\s*[[{]/.test(text));
}

function namesSecret(json: string): boolean {
  return Array.from(json.matchAll(/"([^"\\]+)"\s*:/g), ([, name = '']) => name).some(isSecretField);
}

/** The pairs of a form with their secrets masked. */
export function maskedForm(
  form: readonly (readonly [field: string, text: string])[],
): (readonly [field: string, text: string])[] {
  return form.map(([field, text]) => [field, maskedValue(field, text) === MASK ? MASK : text]);
}

/** What is shorter stands in too many texts by chance. */
const SHORTEST = 3;
const SHORTEST_CODE = 6;

/**
 * `text` without these secrets, in whatever spelling: a device or a proxy may repeat what it was sent,
 * in a form, a URL, JSON, HTML, hexadecimal or base64.
 */
export function redact(text: string, secrets: readonly string[]): string {
  const found = secrets.flatMap(spellings).filter((spelling) => spelling.length >= SHORTEST);
  if (text === '' || found.length === 0) return text;
  // The longest first: it may hold a shorter one.
  const pattern = [...new Set(found)]
    .sort((a, b) => b.length - a.length)
    .map((spelling) => spelling.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return text.replace(new RegExp(pattern.join('|'), 'gi'), MASK);
}

function spellings(secret: string): string[] {
  const inForm = new URLSearchParams([['', secret]]).toString().slice(1);
  // As UTF-8 can hold it: half a character cannot stand in a URL.
  const inUrl = encodeURIComponent(Buffer.from(secret, 'utf8').toString('utf8'));
  const sent = [...new Set([secret, inForm, inUrl])];
  return [
    ...sent,
    JSON.stringify(secret).slice(1, -1),
    htmlEscaped(secret, '&quot;', '&#39;'),
    htmlEscaped(secret, '&#34;', '&#x27;'),
    ...sent.flatMap(codesOf).filter((code) => code.length >= SHORTEST_CODE),
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

/** The letters that stand for these bytes alone, wherever in the encoded text they begin. */
function base64Codes(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((before) => {
    const all = Buffer.concat([Buffer.alloc(before), bytes]);
    const first = Math.ceil((before * 8) / 6);
    const last = Math.floor((all.length * 8) / 6);
    return (['base64', 'base64url'] as const).map((code) => all.toString(code).slice(first, last));
  });
}

/** Words in the names of fields that say what a record may do: `role`, `groups`, `permissions`, `access_level`. */
const RIGHTS =
  /^(?:admin|super|sudo|root|wheel|staff|owner|roles?$|gr(?:ou)?p|perm|priv|scope|levels?$|lvl|access|rights?$|grants?$|capabilit)|(?:admin|group|role|staff|scope|level|privilege|permission)s?$/;

/** `is_admin`, `canWrite`, `isstaff`. */
const CLAIM = /^(?:is|can|may|has)$|^is(?:active|admin|staff|super|root|owner)/;

/** Words for what a device says of its own records: `canBeDeleted`, `builtin`. */
const INTERNAL =
  /^(?:delet(?:ed|able)|protected|builtin|internal|readonly|system|locked|reserved)$/;

/**
 * Whether the value of a field may give rights, by its name (`is_staff`, `userRole`, `group_ids`). A name
 * too many does no harm: such a field is only never filled in unasked.
 */
export function isPrivilegeField(name: string): boolean {
  const words = wordsOf(name);
  return CLAIM.test(words[0] ?? '') || words.some((word) => RIGHTS.test(word));
}

/** Whether a field is the device's own affair, by its name: `_rev`, `canBeDeleted`, `is_builtin`. */
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
/** A second factor that is on shuts out who has none: no such switch opens more by being on. */
const OPENS = new RegExp(`(?<!fa|otp|factor|in)${ON}$`);
const SHUTS = new RegExp(`${OFF}$`);
/** The whole account, by one switch. */
const SWITCH = new RegExp(`^(?:is|account|acct|user|login)*(?:${ON}|${OFF})$`);

/** Whether a field says by its name if, until when or from where an account may log in. */
export function isStatusField(name: string): boolean {
  return STATUS.test(lettersOf(name));
}

/** Which value of a switch opens more: true for `is_active`, false for `locked`; undefined for others. */
export function openValue(name: string): boolean | undefined {
  const letters = lettersOf(name);
  if (SHUTS.test(letters)) return false;
  return OPENS.test(letters) ? true : undefined;
}

/**
 * The value that disables a whole account, spelled as the field has it; undefined for another field, or
 * where the spelling is not known.
 */
export function disablingValue(name: string, held: Value): Value | undefined {
  if (!SWITCH.test(lettersOf(name))) return undefined;
  const isOpen = openValue(name) === true;
  for (const [no, yes] of SPELLINGS) {
    if (held === no || held === yes) return isOpen ? no : yes;
  }
  return undefined;
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

function lettersOf(name: string): string {
  return name.toLowerCase().replace(/[^a-z]/g, '');
}
