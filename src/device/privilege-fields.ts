import type { Value } from './record.ts';

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
