// What may stand in a path, as text: no profile is needed to tell it, and no zod.

/** `{item}` in a template. */
export const PLACEHOLDER = /\{([^{}]+)\}/g;

/** Whether a path says which record is meant: `{item}`, `{id}`, `{key}` or any field of it. */
export function namesRecord(template: string): boolean {
  return placeholdersIn(template).some((name) => name !== 'collection' && name !== 'resource');
}

export function placeholdersIn(template: string): string[] {
  return [...template.matchAll(PLACEHOLDER)].map(([, name = '']) => name);
}

/** Like `encodeURIComponent`, and the one mark that URLs encode in a query only. */
export function encoded(text: string): string {
  return encodeURIComponent(text).replaceAll("'", '%27');
}

/** Ids that a device may take for "none", or a server for a way up to the collection. */
export function isUsableId(id: string): boolean {
  if (id.trim() === '' || /^(?:null|undefined|none)$/i.test(id.trim())) return false;
  if (/[\p{Cc}\p{Surrogate}]/u.test(id)) return false;
  // Some servers decode once more before they walk the path.
  const decoded = id
    .replace(/%2e/gi, '.')
    .replace(/%2f|%5c/gi, '/')
    .replaceAll('\\', '/');
  // Some take `;x` for a remark on the name before it, and `*` for every name.
  const names = decoded.split('/').map((segment) => segment.replace(/;.*$/s, '').trim());
  return !names.some((name) => ['', '.', '..', '*'].includes(name));
}
