import { UnreachableError } from '../../src/device/errors.ts';
import type { DeviceRecord, DeviceRef } from '../../src/device/record.ts';
import { journalLine, type JournalEntry } from '../../src/change/journal.ts';
import { parseJournal } from '../../src/change/read-journal.ts';
import type { DevicePlan } from '../../src/change/plan.ts';
import { reportOf, type Report } from '../../src/change/report.ts';
import type { StepResult } from '../../src/change/verdict.ts';
import type { Step } from '../../src/change/step.ts';

/** The foreign texts of a run. */
export interface Texts {
  readonly device: string;
  readonly key: string;
  readonly field: string;
  readonly value: string;
  readonly note: string;
  readonly command: string;
}

const AT = '2026-11-21T09:30:41.000Z';

/** A run over five devices: two done alike, one differs, one unreachable, one not reached. */
export function exampleReport(texts: Partial<Texts> = {}): Report {
  const {
    device = 'fw',
    key = 'carol',
    field = 'lang',
    value = 'de',
    note = 'changed without a request: lang',
    command = 'user set carol lang=de password=…',
  } = texts;
  const refs = [1, 2, 3, 4, 5].map((number) => ({
    name: `${device}${number}`,
    address: `10.0.0.${number}:443`,
  }));
  const [, , , unreachable] = refs;
  const stepOn = (number: number): Step => {
    const before = { uuid: `6f1c-${number}`, username: key, [field]: 'fr' };
    const asked: DeviceRecord = { [field]: value, password: 'S3cret!' };
    return {
      action: 'set',
      resource: 'user',
      key,
      keyField: 'username',
      request: {
        method: 'POST',
        path: '/api/user/',
        form: [
          ['uuid', before.uuid],
          [field, value],
          ['password', 'S3cret!'],
        ],
      },
      before,
      after: { ...before, ...asked },
      asked,
      effects: {},
    };
  };
  const plans = refs.map((ref, index): DevicePlan => {
    if (ref === unreachable) {
      const error = new UnreachableError(ref, `no answer within 5 s (${note})`);
      const wanted = [{ action: 'set' as const, resource: 'user', key }];
      return { device: ref, steps: [], settled: [], error, wanted };
    }
    return { device: ref, steps: [stepOn(index + 1)], settled: [], total: { user: 8 } };
  });
  const resultOn = (ref: DeviceRef, number: number): StepResult => {
    const held = { ...stepOn(number).after, password: 'hashed' };
    const result = { device: ref, resource: 'user', key, action: 'set' as const };
    if (number !== 3) return { ...result, verdict: 'done', record: held };
    const differences = [{ field, sent: value, held: 'it' }];
    return {
      ...result,
      verdict: 'differs',
      record: { ...held, [field]: 'it' },
      differences,
      notes: [note],
    };
  };
  const entries: JournalEntry[] = [
    {
      ...{ kind: 'run', run: '20261121-093041-k3qd7m', at: AT, command },
      ...{ by: 'lea@desk', version: '1.0.0' },
    },
    ...plans.map((plan) => ({ kind: 'device' as const, plan })),
    { kind: 'planned' },
    ...refs.slice(0, 3).flatMap((ref, index): JournalEntry[] => {
      const step = { device: ref.name, index: 0 };
      return [
        { kind: 'send', ref: step, at: AT },
        { kind: 'verdict', ref: step, at: AT, result: resultOn(ref, index + 1) },
      ];
    }),
    { kind: 'stop', at: AT, reason: 'one device differs' },
    { kind: 'end', at: '2026-11-21T09:30:43.500Z' },
  ];
  return reportOf(
    parseJournal(entries.map((entry) => journalLine(entry)).join(''), 'example.jsonl'),
  );
}
