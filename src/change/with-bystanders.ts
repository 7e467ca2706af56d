import type { Bystanders } from './pairing.ts';
import type { Step } from './plan.ts';
import { recordName } from './record-name.ts';
import type { StepEnd } from './verdict.ts';
import { someOf } from '../some-of.ts';

/** So many records are named, the others counted. */
const NAMED = 10;

/**
 * Nothing is `done` when other records are gone or changed. A step that was not carried out stays
 * `failed` beside changed ones, which may be somebody else's work; missing ones are never passed over.
 * Added ones are told of; where the record itself does not show, one of them may be it under another name.
 */
export function withBystanders(
  step: Step,
  own: StepEnd,
  { gone, lost, changed, added }: Bystanders,
): StepEnd {
  if (gone.length === 0 && changed.length === 0 && added.length === 0) return own;
  const isUntouched = own.verdict === 'no effect' || own.verdict === 'failed';
  const notes = [
    isUntouched ? untouchedText(step) : own.note,
    gone.length > 0
      ? `no longer in its list, without being asked: ${someOf(gone, NAMED)}`
      : undefined,
    changed.length > 0 ? `changed, too, without being asked: ${someOf(changed, NAMED)}` : undefined,
    added.length > 0 ? `added meanwhile: ${someOf(added, NAMED)}` : undefined,
  ];
  const isOnlyAdded = gone.length === 0 && changed.length === 0;
  const staysAsItIs =
    (gone.length === 0 && (own.verdict === 'failed' || own.verdict === 'unknown')) ||
    (isOnlyAdded && (own.verdict !== 'no effect' || step.action === 'delete'));
  return {
    ...own,
    verdict: staysAsItIs ? own.verdict : 'differs',
    note: notes.filter((note) => note !== undefined).join('; '),
    ...(lost.length > 0 && { gone: lost }),
  };
}

function untouchedText(step: Step): string {
  return `${recordName(step)} itself ${step.action === 'add' ? 'does not show' : 'is as before'}`;
}
