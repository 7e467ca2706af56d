/** Whether tests do all that they can: set by `npm run test:long`. */
export const isLong = process.env['DEVSH_TEST_LONG'] === '1';

/**
 * How often a test repeats something with other kills, damages, keys or seeds: `full` in `npm run test:long`, otherwise
 * a tenth of it, but at least `least`. The environment variable `variable` overrides both.
 */
export function rounds(
  full: number,
  { least = 3, variable = '' }: { readonly least?: number; readonly variable?: string } = {},
): number {
  const given = process.env[variable];
  if (given !== undefined) return Number(given);
  return isLong ? full : Math.max(least, Math.ceil(full / 10));
}
