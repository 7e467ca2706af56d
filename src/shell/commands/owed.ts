import { type ArgSpec, command, type CommandSpec, later, verb } from '../command.ts';
import { CHANGE } from '../grammar/options.ts';

const ID: ArgSpec = {
  name: 'ID',
  summary: 'the id of the run that left the work (default: all)',
  complete: (scope) => scope.runs.map((text) => ({ text })),
};

const load = () => import('../writing/owed.ts');

const list = command({
  name: 'owed',
  brief: 'What devices still get that were not reached',
  section: 'Change sets',
  summary: 'List the changes that devices still get, because nothing could be sent to them',
  args: [],
  options: ['on'],
  changes: 'nothing',
  details:
    'A run owes its change to each device that it did not reach: no connection, an untrusted certificate, no\n' +
    'login or a refused one. Any other refusal is an answer. A step that was sent without a verdict is not\n' +
    'owed, either: "resume" finds out by reading. A filter is resolved when its run is planned, from the devices\n' +
    'that were read. Nothing owed expires; a later change to the same record replaces it, undoing the run cancels\n' +
    'it, and so does a device that leaves the inventory.',
  examples: ['owed', 'owed --on @berlin', 'owed settle --wait'],
  run: later(async () => (await load()).listOwed),
});

export const owed: CommandSpec = {
  ...list,
  verbs: [
    ...list.verbs,
    verb({
      name: 'settle',
      summary: 'Make the owed changes on the devices that answer now',
      args: [ID],
      options: [...CHANGE, 'wait', 'also'],
      forced: 'drift',
      details:
        'devsh plans from what each device has now, in the order in which the work arose. What is so already is\n' +
        'settled without a request. A record that differs from what the run changed elsewhere is drift: devsh asks,\n' +
        'and --yes leaves it. --allow drift overwrites values, and accepts a device that moved or has a new\n' +
        'certificate; an account that may be another person needs its own mark (--also DEVICE=KEY). A secret is\n' +
        'not kept: it is asked for. The plan is confirmed like any other, and "undo" undoes it.',
      examples: [
        'owed settle',
        'owed settle 20261121-093041-k3qd7m --on fw11',
        'owed settle --wait',
        'owed settle --also fw11=bob',
      ],
      run: later(async () => (await import('../writing/settle-owed.ts')).settleOwed),
    }),
    verb({
      name: 'drop',
      summary: 'Give up what a run still owes; nothing is sent',
      args: [{ ...ID, isRequired: true, summary: 'the id of the run, as "owed" lists it' }],
      options: ['on', 'reason'],
      examples: ['owed drop 20261121-093041-k3qd7m --on fw11 --reason "scrapped"'],
      run: later(async () => (await load()).dropOwed),
    }),
  ],
};
