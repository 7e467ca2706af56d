import { type DeviceRef, grouped } from '../../device/record.ts';
import type { RecordRow } from './record-file.ts';

/** A device as the column DEVICE may name it. */
export interface NamedDevice extends DeviceRef {
  readonly groups: readonly string[];
}

/** The devices that a text of the column DEVICE names: `fw1`, `@berlin`, `all`, `all !fw3`. */
interface Scope {
  /** If several rows have one key, the one with the highest rank counts. */
  readonly rank: number;
  /** Without `@` and `!`. */
  readonly groups: readonly string[];
  /** Names and addresses. */
  readonly names: readonly string[];
  readonly has: (device: NamedDevice) => boolean;
}

const ALL = /^@?all$/i;

export function scopeOf(text: string): Scope {
  const terms = text.split(/[\s,]+/).filter((term) => term !== '');
  const excluded = terms.flatMap((term) => (term.startsWith('!') ? [term.slice(1)] : []));
  const named = terms.filter((term) => !term.startsWith('!'));
  const included = named.length === 0 ? ['all'] : named;
  const other = [...included, ...excluded].filter((term) => !ALL.test(term));
  const isGroup = (term: string): boolean => term.startsWith('@');
  return {
    rank: included.some((term) => ALL.test(term)) ? 1 : included.some(isGroup) ? 2 : 3,
    groups: other.filter(isGroup).map((term) => term.slice(1)),
    names: other.filter((term) => !isGroup(term)),
    has: (device) =>
      included.some((term) => isIn(term, device)) && !excluded.some((term) => isIn(term, device)),
  };
}

function isIn(term: string, { name, address, groups }: NamedDevice): boolean {
  if (ALL.test(term)) return true;
  if (!term.startsWith('@')) return term === name || term === address;
  return groups.some((group) => group.toLowerCase() === term.slice(1).toLowerCase());
}

/** The rows of a file by the devices that they are for. */
export class ScopedRows {
  /** Each text of the column DEVICE with its first row. */
  readonly scopes: readonly { readonly scope: Scope; readonly row: RecordRow }[];
  readonly #parts: readonly { readonly scope: Scope | undefined; rows: readonly RecordRow[] }[];

  constructor(rows: readonly RecordRow[]) {
    this.#parts = [...grouped(rows, ({ device }) => device ?? '')].map(([text, rows]) => ({
      scope: text === '' ? undefined : scopeOf(text),
      rows,
    }));
    this.scopes = this.#parts.flatMap(({ scope, rows: [row] }) =>
      scope && row ? { scope, row } : [],
    );
  }

  /**
   * The rows for a device: of several with the same key, those that name it most closely. Rows without a device
   * always stay.
   */
  of(device: NamedDevice, keyOf: (row: RecordRow) => string): readonly RecordRow[] {
    const parts = this.#parts.filter(({ scope }) => scope?.has(device) ?? true);
    const rows = parts.flatMap((part) => part.rows);
    if (new Set(parts.flatMap(({ scope }) => scope?.rank ?? [])).size < 2) return rows;
    const closest = new Map<string, number>();
    for (const { scope, rows: own } of parts)
      for (const row of own) {
        const key = keyOf(row);
        closest.set(key, Math.max(closest.get(key) ?? 0, scope?.rank ?? 0));
      }
    return parts.flatMap(({ scope, rows: own }) =>
      scope === undefined ? own : own.filter((row) => closest.get(keyOf(row)) === scope.rank),
    );
  }
}
