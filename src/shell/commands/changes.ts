import { UsageError } from '../../errors.ts';
import { command } from '../command.ts';
import { info, success } from '../output.ts';

export const changes = command({
  name: 'changes',
  brief: 'What devsh keeps of what devices showed',
  section: 'Records',
  summary: 'Remove what devsh keeps of what a device showed over time',
  details:
    'devsh keeps every complete list that it reads, without secrets, so that it can say what changed. The\n' +
    'settings historyDays and historyMegabytes limit that; "config set historyDays 0" turns it off.',
  examples: ['changes --forget fw3'],
  options: ['forget'],
  async *run({ options: { forget }, shell }) {
    if (forget === undefined) throw new UsageError('say --forget DEVICE');
    const readings = await shell.readings();
    const wasKept = await readings.forget(forget);
    yield wasKept
      ? success(`removed what was kept of ${forget}`)
      : info(`nothing is kept of ${forget}`);
  },
});
