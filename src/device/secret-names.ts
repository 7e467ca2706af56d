/* What the parts of a name say: whether its value is a secret, for tables, reports, readings and journals alike. */

/** Also mistyped, or in two words: the value is the same. */
const PASSWORD = 'pa?s+ ?w(?:or|ro|r|o)?[dt]|pas+or[dt]|pass ?(?:phrase|code)';
/** In other languages, without the accents of Latin and Greek letters. */
const TRANSLATED =
  'kennwort|losungswort|geheim(?:nis|wort)?|contrasen+y?a|contrasinal|senha|palavra ?passe|mot ?de ?passe|' +
  'mdp|clave|parola|parole|parool|parol|segreto|secreto|segredo|wachtwoord|wagwoord|pas+woord|losen(?:ord)?|' +
  'adgangskode|kodeord|lykilorð|salasana|salasona|tunnussana|haslo|heslo|jelszo|lozinka|zaporka|geslo|sifra|' +
  'sifre|slaptazodis|pasahitza|fjalekalim|cyfrinair|nenosiri|mat ?khau|kata ?(?:sandi|laluan)|пароль|лозинка|' +
  'парола|κωδικος|סיסמ[הא]|كلمة ?(?:المرور|السر)|رمز ?عبور|पासवर्ड|รหัสผ่าน|パスワード|パスコード|暗証番号|密码|' +
  '密碼|口令|密钥|비밀번호|암호';
/** A secret whatever follows, but for a word about it: `password_admin`, not `password_min_length`. */
const SECRET = `(?:${PASSWORD}|${TRANSLATED}|pwd|psk|secret(?!ar))s?`;
/** A secret as the last word. */
const HEAD = '(?:token|credential|jwt|(?:recovery|backup|scratch|rescue) ?(?:code|word|phrase))s?';
/** A secret as the last word, unless the word before says that it is public. */
const AMBIGUOUS =
  '(?:pass|passe|(?:auth|priv|key) ?phrase|pw|key|communit(?:y|ie)(?: (?:name|string))?|hash(?:e)?|salt|seed|[ht]?otp|pin|puk|cred|cookie|keytab|authorization|cle|chiave|schlue?s+el)s?';
const HASH =
  '(?:hash(?:ed|es)?|digest|crypt(?:ed)?|salt|md5|sha\\d*|bcrypt|scrypt|pbkdf2|argon2i?d?)';
/** What follows a secret and is one, too: its hash, the one before it. */
const COPY = `(?:${HASH}|keys?|histor(?:y|ies)|confirm(?:ation)?|again|repeat|old|new|current|value|string|text|plain|clear|encrypted|encoded|material|data|b(?:ase)?64|hex|r[ow]|\\w?\\d+)`;

/** Words about a secret, as the first or the last behind it: measures, moments, places, abstract nouns. */
const ABOUT =
  /^(?:.*(?:count|counter|length|size|age|time|life|lock|lockout|limit|interval|timeout|policy|policies|protocol|algorithm|attempt|failure|index|table|entry|state|status|type|mode|id|name)s?|\w{2,}(?:ion|ity|ness|ment|ance|ence|ing|ed|able)|exp\w*|len|bits?|days?|hours?|minutes?|seconds?|dates?|ttl|min\w*|max\w*|no|not|is|in|at|on|by|must|can|may|allow|until|since|last|next|set|reset|change[ds]?|check(?:s|er)?|require|force|enforce|track|use|usage|disable|enable|kinds?|format|class|cipher|method|schemes?|syntax|rules?|strength|score|valid|hint|prompt|label|title|u?uid|guid|idx|refs?|ur[il]|link|href|path|file|source|origin|owner|num(?:ber)?|tries|retries|grace|fingerprint|thumbprint|checksum|managers?|servers?|host|port|address|service|provider|endpoint|level|attributes?|propert(?:y|ies)|flags?|options?|settings|config|generator|total|support|vault|agent|stdin|notes?)$/;

/** Words before an ambiguous one that make it public: `public_key`, `commit_hash`, `gpio_pin`. */
const PUBLIC =
  /^(?:public|pub|primary|foreign|sort|search|partition|routing|lookup|cache|natural|unique|index|translation|message|object|properties|binding|parent|group|map|host|known|authorized|trusted|ssh|gpg|pgp|commit|git|content|config|file|image|firmware|block|body|tree|build|query|state|next|previous|prev|page|continuation|first|second|low|high|band|all|gpio|cert|certificate|dns|spki|bgp|extended|large|standard|max|min|num|number|count|total|has|is|use|requires?|needs?|allow|send|origin|fingerprint|checksum)$/;

/** An ambiguous word that certainly is a secret by the word before it: `api_key`, `pw_hash`. */
const CERTAIN = new RegExp(
  '(?:^| )(?:(?:api|private|(?:pre)?shared|derived|stored|server|master|encryption|signing|recovery) keys?|' +
    `(?:user|auth|login|old|new) (?:pw|pass)|(?:pass|pw|nt|lm|ntlm|smb|unix|key) ${HASH}|salt|` +
    '(?:otp|mfa|2fa) (?:seed|key))$|^pw$',
);

/** Words of a language that end as a secret does. */
const ORDINARY =
  /^(?:(?:by|com|encom|sur|tres|over|under|band|multi)pass|(?:mon|tur|don|hoc|joc|whis|lac|hot|turn)key|(?:s|under|hair|king)pin|paraphrase|sacred|rehash|basalt|enclave|\w+cle)$/;

/** Letters that nothing parts, with a secret anywhere in them or at their end: `radiussecret1`, `privpass`. */
const COMPOUND = new RegExp(
  `^(.*?)((?:${PASSWORD}|secret(?!ar)|credential|communit(?:y|ie))s?|(?:${SECRET}|${HEAD}|${AMBIGUOUS})$)(.*)$`,
);
const CERTAINLY = new RegExp(`(?:^| )(?:${SECRET}|${HEAD})(?: ${COPY})*$`);
const WITH_SECRET = new RegExp(`^(?:.* )?${SECRET} (.*)$`);
/** A change of a key shows the new one to whoever knows the old one (KeyChange of RFC 3414). */
const WITH_AMBIGUOUS = new RegExp(`^(.*?)(?:^| )(?:${HASH} )?${AMBIGUOUS}(?: ${COPY}| change)*$`);
const WHOLE_HASH = new RegExp(`^${HASH}$`);

/** Words that say what a long code is: not a secret. */
const SAYS_WHAT =
  /^(?:u?u?ids?|guid|name|user(?:name)?|login|host(?:name)?|label|title|e?mail|fingerprint|thumbprint|etag|checksum|crc\d*|digest|sha\d*|md5|serial|sn|version|revision|rev|commit|build|ur[il]|href|links?|paths?|file(?:name)?|dn|mac|address|addr|duid|iaid|[as]kid|eui\d*|cert(?:ificate)?s?|crt|ca|chain|public|pubs?|ssh|sig(?:nature)?|image|icon|avatar|photo|picture|logo|cursor|next|prev(?:ious)?|ref(?:erence)?s?|self|model|type|device|hash(?:es)?|object|node|uri)$/;

/** Only the end of a longer name is looked at. */
const MOST_LOOKED_AT = 200;

/** `snmpCommunity`, `radius-key2`, `bindpw` -> snmp, community; radius, key; bind, pw. */
function partsOf(name: string): string[] {
  const letters = name
    .slice(-MOST_LOOKED_AT)
    .normalize('NFKD')
    .replace(/(?<=[\p{Script=Latin}\p{Script=Greek}])\p{M}+/gu, '')
    .normalize('NFC');
  const words = letters
    .replace(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .toLowerCase()
    .replaceAll('ł', 'l')
    .split(/[^\p{L}\p{M}\p{N}]+/u);
  return words
    .map((word) => (WHOLE_HASH.test(word) ? word : word.replace(/(?<=\p{L}{2})\d+$/u, '')))
    .flatMap((word) => {
      const [, ...parts] = (ORDINARY.test(word) ? null : COMPOUND.exec(word)) ?? ['', word];
      return parts;
    })
    .filter((part) => part !== '' && !/^\d+$/.test(part));
}

type Secrecy = 'secret' | 'guess' | 'open';

function secrecyOfParts(parts: readonly string[]): Secrecy {
  const text = parts.join(' ');
  if (CERTAINLY.test(text) || CERTAIN.test(text)) return 'secret';
  const [, after] = WITH_SECRET.exec(text) ?? [];
  if (after !== undefined) return isAbout(after.split(' ')) ? 'open' : 'guess';
  const [, before] = WITH_AMBIGUOUS.exec(text) ?? [];
  return before === undefined || PUBLIC.test(before.slice(before.lastIndexOf(' ') + 1))
    ? 'open'
    : 'guess';
}

function isAbout(words: readonly string[]): boolean {
  return [words[0], words.at(-1)].some((word = '') => ABOUT.test(word));
}

interface NameVerdict {
  /** `guess`: it may be a secret, as far as its words say. */
  readonly secrecy: Secrecy;
  /** Whether the name says that a long code is no secret. */
  readonly saysWhat: boolean;
}

/** Names of fields that somebody has looked at: they are no secrets. */
const opened = new Set<string>();
/** What profiles state of names: wherever a line, a record or a file has them, whatever the device. */
const declared = new Map<string, boolean>();

/** Cached, because lists of many records ask for the same few names. */
const verdicts = new Map<string, NameVerdict>();
const MAX_CACHED = 1_000;

/** What a profile states as `public`: these names are no longer guessed at. */
export function openFields(names: readonly string[]): void {
  for (const name of names) opened.add(name);
  verdicts.clear();
}

/** A name that one profile calls secret stays one, whatever others say. */
export function declareSecrets(names: readonly string[], areSecret: boolean): void {
  for (const name of names) declared.set(name, areSecret || declared.get(name) === true);
  if (!areSecret) openFields(names);
  verdicts.clear();
}

/** As at the start of a program. */
export function forgetDeclaredSecrets(): void {
  for (const store of [declared, opened, verdicts]) store.clear();
}

export function verdictOnName(name: string): NameVerdict {
  const known = verdicts.get(name);
  if (known !== undefined) return known;
  const parts = partsOf(name);
  const said = secrecyOfParts(parts);
  const isCertain = declared.get(name) ?? said === 'secret';
  const isOpen = isPublicField(name);
  const verdict = {
    secrecy: isCertain ? 'secret' : said === 'open' || isOpen ? 'open' : 'guess',
    saysWhat: isOpen || parts.some((part) => SAYS_WHAT.test(part)),
  } as const;
  if (verdicts.size >= MAX_CACHED) verdicts.clear();
  verdicts.set(name, verdict);
  return verdict;
}

/** Whether a profile calls the field public. */
export function isPublicField(name: string): boolean {
  return opened.has(name) || opened.has(name.slice(name.lastIndexOf('.') + 1));
}
