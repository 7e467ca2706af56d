import { CHANGE, DEVICES, PART } from '../grammar/options.ts';
import { type ArgSpec, command, later } from '../command.ts';

const FILE: ArgSpec = {
  name: 'FILE',
  summary: 'a change set (YAML, JSON; CSV for adds), or - for standard input',
  isRequired: true,
};

export const plan = command({
  name: 'plan',
  brief: 'Show what a change set would do',
  section: 'Change sets',
  summary: 'Show what a change set would do on each selected device; sends nothing',
  args: [FILE],
  options: [...DEVICES, 'profile', 'asCurl', 'resource', 'output', 'expiresMs'],
  changes: 'nothing',
  details:
    'A change set is a list:\n' +
    '  - add: user\n' +
    '    fields: {username: bob, first_name: Bob, lastname: Builder, lang: de}\n' +
    '  - set: user\n' +
    '    key: alice\n' +
    '    fields: {lang: en}\n' +
    '  - delete: user\n' +
    '    where: lang=xx\n' +
    'With -o the plan is written down, sealed with its SHA-256, for "apply PLANFILE".',
  examples: ['plan change.yaml --on @berlin', 'plan change.yaml --on @berlin -o monday.plan'],
  run: later(async () => (await import('../writing/change-files.ts')).planFile),
});

export const apply = command({
  name: 'apply',
  brief: 'Carry out a change set or a plan',
  section: 'Change sets',
  summary: 'Carry out a change set, or a plan that was written down',
  args: [{ ...FILE, summary: 'a change set, a plan file, or - for standard input' }],
  options: [...CHANGE, 'resource', ...PART, 'confirmMs'],
  forced: 'drift',
  details:
    'A plan file is applied as it was looked at: a device that has changed since gets the verdict\n' +
    '"drift" and nothing is sent there; --replan plans anew. A plan that was altered or has expired\n' +
    'is refused; --allow drift applies one that has expired.\n' +
    'Several machines or jobs share a plan file by --shard I/N; each keeps its result in a file, and\n' +
    '"runs merge" puts them together. The same line again goes on from its result file: what is in\n' +
    'doubt is settled by reading, what failed or was not reached is sent, what is done is not.',
  examples: [
    'apply change.yaml --on @berlin --canary 1 --batch 20 --max-failures 5%',
    'apply monday.plan',
    'apply change.yaml --on fw1 --confirm 120',
    'apply monday.plan --shard 2/4 --result 2.json --yes',
  ],
  run: later(async () => (await import('../writing/change-files.ts')).applyFile),
});
