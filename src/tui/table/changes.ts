import { recordChanges } from '../../fleet/record-changes.ts';
import type { ReadOutput } from '../../shell/output.ts';
import type { TableChanges, TableState } from '../state.ts';
import { markOf, rawKeyOf } from './rows.ts';

/** What devices that are read again hold otherwise than before; undefined when nothing is. */
export function changesBetween(
  before: TableState['reads'],
  reads: readonly ReadOutput[],
  keyField: string,
): TableChanges | undefined {
  const fields = new Map<string, readonly string[] | undefined>();
  const counts = { changed: 0, added: 0, removed: 0 };
  for (const { device, outcome } of reads) {
    const old = before.get(device.name)?.outcome;
    if (!outcome.ok || old?.ok !== true) continue;
    for (const change of recordChanges(old.records, outcome.records, keyField)) {
      counts[change.kind] += 1;
      if (change.kind === 'removed') continue;
      const mark = markOf(device.name, rawKeyOf(change.record, keyField));
      fields.set(mark, change.kind === 'changed' ? change.fields : undefined);
    }
  }
  const { changed, added, removed } = counts;
  return changed + added + removed === 0 ? undefined : { fields, ...counts };
}

/** "2 changed, 1 new, 1 gone"; empty without changes. */
export function changesText(changes: TableChanges | undefined): string {
  if (changes === undefined) return '';
  const { changed, added, removed } = changes;
  const parts = [
    [changed, 'changed'],
    [added, 'new'],
    [removed, 'gone'],
  ] as const;
  return parts.flatMap(([number, word]) => (number === 0 ? [] : [`${number} ${word}`])).join(', ');
}
