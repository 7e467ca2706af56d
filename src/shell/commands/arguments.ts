import type { DeviceRecord, Value } from '../../device/record.ts';
import { oneLine } from '../../device/text.ts';
import { valueText } from '../../device/value-text.ts';
import { UsageError } from '../../errors.ts';
import type { Word } from '../parse.ts';
import type { ArgSpec, Candidate, CompletionScope } from '../spec.ts';

/** `TARGET…`: devices by name, address, range, network or group. */
export const TARGETS: ArgSpec = {
  name: 'TARGET',
  summary: 'name, address, host:port, 10.0.0.[5-9], 10.0.0.0/29, @group, !but-not',
  isRest: true,
  complete: (scope) => scope.targets,
};

/** The same, where at least one is needed. */
export const SOME_TARGETS: ArgSpec = { ...TARGETS, isRequired: true };

/** The devices of this session, or `all`. */
export const CONNECTED: ArgSpec = {
  name: 'SELECTOR',
  summary: 'which of the connected devices (names, @group, !but-not, all)',
  isRest: true,
  complete: ({ fleet }) => [
    ...fleet.connected.map(({ ref }) => ({ text: ref.name, summary: ref.address })),
    { text: 'all', summary: 'all connected devices' },
  ],
};

/** `field=value` words as fields; each field once. */
export function fieldsOf(words: readonly Word[]): DeviceRecord {
  const fields: Record<string, Value> = {};
  for (const { text, start } of words) {
    const at = text.indexOf('=');
    if (at < 1) {
      throw new UsageError(`"${oneLine(text)}" is not field=value`, { column: start });
    }
    const field = text.slice(0, at);
    if (Object.hasOwn(fields, field)) {
      throw new UsageError(`${field} is given twice`, { column: start });
    }
    Object.defineProperty(fields, field, {
      value: text.slice(at + 1),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return fields;
}

/** Natural keys of the records that were last seen, each with what tells it apart. */
export function knownKeys(
  { fleet }: CompletionScope,
  resource: string,
  keyField: string,
): Candidate[] {
  const where = new Map<string, string[]>();
  for (const member of fleet.selection) {
    for (const record of member.seen(resource) ?? []) {
      const key = valueText(record[keyField]);
      if (key === '') continue;
      where.set(key, [...(where.get(key) ?? []), member.ref.name]);
    }
  }
  return [...where]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([text, names]) => ({ text, summary: names.join(', ') }));
}

/** The values that a field was seen to have, the most frequent first. */
export function knownValues({ fleet }: CompletionScope, resource: string, field: string): string[] {
  const counts = new Map<string, number>();
  for (const member of fleet.selection) {
    for (const record of member.seen(resource) ?? []) {
      const value = record[field];
      if (value === undefined || value === null || typeof value === 'object' || value === '')
        continue;
      counts.set(String(value), (counts.get(String(value)) ?? 0) + 1);
    }
  }
  return [...counts].sort(([, a], [, b]) => b - a).map(([value]) => value);
}
