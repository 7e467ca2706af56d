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
