import type { Value } from '../device/record.ts';
import { isSecretField } from '../device/secret-fields.ts';
import { suggest } from '../suggest.ts';
import { valueAt } from '../value-at.ts';
import { changedParts } from './changed-parts.ts';
import type { Plan, Step } from './plan.ts';

/**
 * Fields without a known type, those that may give rights and are left out; and a changed field that the
 * record does not have is more often a slip.
 */
export function doubtfulFields({ devices }: Pick<Plan, 'devices'>): string[] {
  const doubts = new Map<string, string>();
  for (const step of devices.flatMap(({ steps }) => steps)) {
    const { before, asked, untyped = [], leftOut = [] } = step;
    for (const field of leftOut) {
      doubts.set(
        field,
        `"${field}" may give rights and is not filled in: a form without it may mean no; say ${field}=… to send it`,
      );
    }
    for (const field of untyped) {
      doubts.set(field, `nobody has told the type of "${field}": ${sentAs(step, field)}`);
    }
    if (before === undefined) continue;
    const slips = Object.entries(asked).flatMap(([field, value]) =>
      changedParts(field, valueAt(before, field), value).filter(
        (part) => part.before === undefined,
      ),
    );
    for (const { field } of slips) {
      if (isSecretField(field)) continue;
      const [meant] = suggest(field, Object.keys(before));
      const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
      doubts.set(field, `the record has no field "${field}" so far${hint}`);
    }
  }
  return [...doubts.values()];
}

/** What a typed text went as. A name with dots may be a field, or a part of one. */
function sentAs({ asked }: Step, name: string): string {
  const whole = Object.hasOwn(asked, name) ? [name] : name.split('.');
  const sent = whole.reduce<Value | undefined>(
    (value, part) =>
      typeof value === 'object' && value !== null
        ? (value as Readonly<Record<string, Value>>)[part]
        : undefined,
    asked,
  );
  return typeof sent === 'object'
    ? 'it is sent as the JSON that it is'
    : `it is sent as text (${name}:=… sends JSON)`;
}
