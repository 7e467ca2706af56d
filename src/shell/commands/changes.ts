import { existsSync } from 'node:fs';
import { UsageError } from '../../errors.ts';
import { parseFilterWords } from '../../fleet/filter.ts';
import { command } from '../command.ts';
import { info, success } from '../output.ts';
import { oneLine } from '../../text/one-line.ts';
import { PAST } from '../grammar/options.ts';
import { confirm } from '../session.ts';

export const changes = command({
  name: 'changes',
  synonyms: ['audit'],
  brief: 'Show what changed, when, and who did it',
  section: 'Records',
  summary: 'Show what changed on the selected devices (else all of the inventory), newest first',
  args: [
    {
      name: 'FILTER',
      summary: 'words, key=bob, kind=gone, resource=user, field=lang, lang=de; all must match',
      isRest: true,
    },
  ],
  details:
    'devsh keeps every complete list that it reads, and masks what looks like a secret. A change lies between two\n' +
    'readings. What nobody read is not known: devices that were not read in that time are named, with exit code 3.\n' +
    'No device is asked.\n' +
    'A time is 2d (ago), 03:00 (the last one here), "yesterday 17:02", 2026-11-22, 2026-11-22T03:00Z, or a RUN:\n' +
    'when it began. Of secrets only the change is known; fields that change by themselves (last_login) are no\n' +
    'change. BY is the run that did it, as the journals prove. What a raw request did may be unclear.\n' +
    'historyDays and historyMegabytes limit what is kept; "config set historyDays 0" turns it off.',
  examples: [
    'changes --since 03:00',
    'changes kind=gone --since 2d --on @berlin',
    'changes jdoe --all-fields',
    'changes --since 1d --exit-code --quiet',
    'changes --forget fw3',
  ],
  options: ['on', ...PAST, 'forget', 'yes'],
  changes: 'nothing',
  async *run(call) {
    const { forget } = call.options;
    const words = call.args.words('FILTER');
    const [first] = words;
    if (first !== undefined && forget !== undefined) {
      throw new UsageError('--forget takes no FILTER', { column: first.start });
    }
    if (forget !== undefined) {
      const readings = await call.shell.readings();
      if (existsSync(readings.path(forget))) {
        const question = (expected: string): string =>
          `Remove all that was read of ${oneLine(forget)}, for good? Type ${expected} to do it:`;
        await confirm(call, 1, question, { nothing: 'nothing was removed' });
      }
      const wasKept = await readings.forget(forget);
      yield wasKept
        ? success(`removed what was kept of ${forget}`)
        : info(`nothing is kept of ${forget}`);
    } else {
      const { listChanges } = await import('../past/list-changes.ts');
      const typed = words.map(({ text, start }) => ({ text, column: start }));
      yield* listChanges(call, typed.length === 0 ? undefined : parseFilterWords(typed));
    }
  },
});
