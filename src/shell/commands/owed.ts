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
  brief: 'What unreachable devices still get',
  section: 'Change sets',
  summary: 'List the changes that devices still get, because they could not be reached',
  args: [],
  options: ['on'],
  changes: 'nothing',
  details:
    'A run owes its change to each device that could not be reached: no route, no connection in time, no TLS.\n' +
    'A refusal (login, read-only, an invalid value) is an answer and leaves nothing owed. A step that was sent\n' +
    'without a verdict is not owed, either: "resume" finds out by reading. A filter is resolved when its run\n' +
    'is planned, from the devices that were read. Nothing owed expires; a later change to the same record\n' +
    'replaces it, undoing the run cancels it, and so does a device that leaves the inventory.',
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
      options: [...CHANGE, 'wait'],
      forced: 'drift',
      details:
        'devsh plans from what each device has now, in the order in which the work arose. What is so already is\n' +
        'settled without a request. A record that differs from what the run changed elsewhere is "drift" without\n' +
        '--allow drift, which also accepts a device that moved or has a new certificate. A secret is not kept: it\n' +
        'is asked for. The plan is confirmed like any other, and "undo" undoes it.',
      examples: [
        'owed settle',
        'owed settle 20261121-093041-k3qd7m --on fw11',
        'owed settle --wait',
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
    verb({
      name: 'import',
      summary: 'Keep the run of a result file, with all that it still owes',
      args: [
        { name: 'RESULT', summary: 'a file of "apply PLANFILE --result FILE"', isRequired: true },
      ],
      details:
        'For a machine that goes away, such as a CI job. The same run twice is one run; a file with more of a run\n' +
        'that is here already adds what is missing.',
      examples: ['owed import result.jsonl'],
      run: later(async () => (await load()).importOwed),
    }),
  ],
};
