// Path templates as plain text, usable without a profile and without zod.

/** `{item}` in a template. */
export const PLACEHOLDER = /\{([^{}]+)\}/g;

/** Whether a path names one record: `{item}`, `{id}`, `{key}` or any field of it. */
export function namesRecord(template: string): boolean {
  return placeholdersIn(template).some((name) => name !== 'collection' && name !== 'resource');
}

export function placeholdersIn(template: string): string[] {
  return [...template.matchAll(PLACEHOLDER)].map(([, name = '']) => name);
}

/** Like `encodeURIComponent`, but also encodes the apostrophe. */
export function encoded(text: string): string {
  return encodeURIComponent(text).replaceAll("'", '%27');
}

/** Rejects ids that a device may read as "none" or a server as a path to the collection. */
export function isUsableId(id: string): boolean {
  if (id.trim() === '' || /^(?:null|undefined|none)$/i.test(id.trim())) return false;
  if (/[\p{Cc}\p{Surrogate}]/u.test(id)) return false;
  // Some servers decode once more before they resolve the path.
  const decoded = id
    .replace(/%2e/gi, '.')
    .replace(/%2f|%5c/gi, '/')
    .replaceAll('\\', '/');
  // Some servers ignore `;x` after a name, and read `*` as every name.
  const names = decoded.split('/').map((segment) => segment.replace(/;.*$/s, '').trim());
  return !names.some((name) => ['', '.', '..', '*'].includes(name));
}
