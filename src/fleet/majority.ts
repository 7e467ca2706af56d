/** More than half have it, even if all `unknown` ones had another. Undefined: no device is the odd one. */
export function majorityOf<V extends { readonly devices: readonly unknown[] }>(
  values: readonly V[],
  unknown: number,
): V | undefined {
  const all = values.reduce((sum, { devices }) => sum + devices.length, unknown);
  return values.find(({ devices }) => 2 * devices.length > all);
}
