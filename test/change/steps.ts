import { evidenceOf, judge } from '../../src/change/judge.ts';
import type { RequestOutcome } from '../../src/change/send.ts';
import { journalLine, opening } from '../../src/change/journal.ts';
import type { UndoContext } from '../../src/change/undo.ts';
import type { Profile } from '../../src/device/profile.ts';
import { type DeviceRecord, valueText } from '../../src/device/record.ts';
import { checkFields } from '../../src/change/typed-fields.ts';
import { textOf } from '../../src/output/sentences.ts';
import type { Step } from '../../src/change/step.ts';
import { noteText, type StepEnd } from '../../src/change/verdict.ts';

/** A step that deletes `before`, adds `asked`, or changes one to the other. */
export function step(
  before: DeviceRecord | undefined,
  asked?: DeviceRecord,
  resource = 'user',
  keyField = 'username',
): Step {
  return {
    action: asked === undefined ? 'delete' : before === undefined ? 'add' : 'set',
    resource,
    key: valueText((before ?? asked)?.[keyField]),
    keyField,
    request: { method: 'POST', path: '/' },
    ...(before && { before }),
    ...(asked && { after: { ...before, ...asked } }),
    asked: asked ?? {},
    effects: {},
  };
}

/** The first lines of a journal. */
export function openingLines(...[head, devices]: Parameters<typeof opening>): string {
  return opening(head, devices)
    .map((entry) => journalLine(entry))
    .join('');
}

/** Nothing happened since the run. */
export function undoContext(profile: Profile): UndoContext {
  return { profile, meantBy: (_device, _step, left) => ({ ...left, age: 'older' }) };
}

/** The problem of each field, as a user reads it. */
export function problemsIn(...given: Parameters<typeof checkFields>): Record<string, string> {
  const texts = [...checkFields(...given)].map(
    ([field, problem]) => [field, textOf(problem)] as const,
  );
  return Object.fromEntries(texts);
}

type Said = Omit<StepEnd, 'notes'> & { readonly note: string | undefined };

/** With its notes as one text, as a user reads them. */
export function said({ notes, ...end }: StepEnd): Said {
  return { ...end, note: noteText({ notes }) };
}

/** The verdict on a step by two readings. */
export function judgedStep(
  profile: Profile,
  step: Step,
  outcome: RequestOutcome,
  readings: Omit<Parameters<typeof evidenceOf>[2], 'answer'>,
): Said {
  const answer = outcome.kind === 'accepted' ? outcome.record : undefined;
  const end = judge(evidenceOf(profile, step, { ...readings, answer }), outcome);
  return said(end);
}
