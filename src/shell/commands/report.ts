import { verb, type CommandSpec } from '../grammar/spec.ts';
import { LATEST, namedRun } from './runs.ts';

export const report: CommandSpec = {
  name: 'report',
  summary: 'Report what a run did, to hand it in',
  section: 'Change sets',
  verbs: [
    verb({
      name: '',
      summary: 'Report what a run did: who, when, what, before and after, verdicts',
      args: [LATEST],
      options: ['as'],
      details:
        'Markdown unless told otherwise; junit is for the test view of a CI system, curl is a bash script\n' +
        'of the same requests. Secrets are in none of them.',
      examples: [
        'report',
        'report 20261121-093041-k3qd7m --as junit > devsh.xml',
        'report --as curl > again.sh',
      ],
      async *run(call) {
        const { runReport } = await import('../writing/run-report.ts');
        yield runReport(await namedRun(call), call.options.as);
      },
    }),
  ],
};
