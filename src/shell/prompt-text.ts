import type { Fleet } from '../fleet/fleet.ts';

/** `devsh fw1,fw2> `, `devsh 12 devices> `. */
export function promptText({ selection, connected, isNarrowed }: Fleet): string {
  const names = selection.map(({ ref }) => ref.name);
  if (names.length === 0) return 'devsh> ';
  if (!isNarrowed && connected.length > 1) return `devsh all ${names.length}> `;
  return names.length > 3 ? `devsh ${names.length} devices> ` : `devsh ${names.join(',')}> `;
}
