import { UsageError } from '../errors.ts';
import { suggest } from '../suggest.ts';

/**
 * Not every caller has types: `readonly` for `readOnly` must not be a device that is written to. Throws
 * a UsageError for an option that there is not; `known` names all of them.
 */
export function refuseUnknownOptions<T extends object>(
  of: string,
  options: T,
  known: Readonly<Record<keyof T, true>>,
): void {
  const names = Object.keys(known);
  for (const name of Object.keys(options)) {
    if (names.includes(name)) continue;
    const [meant] = suggest(name, names);
    const hint = meant === undefined ? `it has ${names.join(', ')}` : `did you mean ${meant}?`;
    throw new UsageError(`${of} has no option "${name}"; ${hint}`);
  }
}
