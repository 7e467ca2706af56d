import { isSecretField } from '../device/secret-fields.ts';
import { suggest } from '../suggest.ts';
import type { Plan } from './plan.ts';

/** Fields without a known type; and a changed field that the record does not have is more often a slip. */
export function doubtfulFields({ devices }: Pick<Plan, 'devices'>): string[] {
  const doubts = new Map<string, string>();
  for (const { before, asked, untyped = [] } of devices.flatMap(({ steps }) => steps)) {
    for (const field of untyped) {
      doubts.set(field, `nobody has told the type of "${field}": it is sent as text`);
    }
    if (before === undefined) continue;
    for (const field of Object.keys(asked)) {
      if (Object.hasOwn(before, field) || isSecretField(field)) continue;
      const [meant] = suggest(field, Object.keys(before));
      const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
      doubts.set(field, `the record has no field "${field}" so far${hint}`);
    }
  }
  return [...doubts.values()];
}
