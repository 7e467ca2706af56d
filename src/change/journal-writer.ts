import type { ApplyJournal } from './apply-device.ts';
import { journalLine, type JournalHead } from './journal.ts';
import type { DevicePlan } from './plan.ts';

/** An open journal: lines that are appended are on the disk when the promise resolves. */
export interface JournalFile {
  append(lines: string): Promise<void>;
}

/** The first lines of a journal: who began the run, and the whole plan. */
export function openingLines(head: JournalHead, devices: readonly DevicePlan[]): string {
  return [
    journalLine({ kind: 'run', ...head }),
    ...devices.map((plan) => journalLine({ kind: 'device', plan })),
    journalLine({ kind: 'planned' }),
  ].join('');
}

/** Writes down what happens to each step, with the time. */
export function journalIn(file: JournalFile, clock: () => Date): ApplyJournal {
  const at = (): string => clock().toISOString();
  return {
    sending: (ref, step) =>
      file.append(journalLine({ kind: 'send', ref, at: at(), ...(step && { step }) })),
    ended: (ref, result) => file.append(journalLine({ kind: 'verdict', ref, at: at(), result })),
    stopped: (reason) => file.append(journalLine({ kind: 'stop', at: at(), reason })),
  };
}
