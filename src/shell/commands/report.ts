import { curlReport } from '../../change/report/curl.ts';
import { jsonReport, reportData } from '../../change/report/json.ts';
import { junitReport } from '../../change/report/junit.ts';
import { markdownReport } from '../../change/report/markdown.ts';
import { reportOf, type Report } from '../../change/report/report.ts';
import type { ReportKind } from '../options.ts';
import type { CommandSpec } from '../spec.ts';
import { LATEST, namedRun } from './runs.ts';

const WRITE: Readonly<Record<ReportKind, (report: Report) => string>> = {
  markdown: markdownReport,
  json: jsonReport,
  junit: junitReport,
  curl: curlReport,
};

export const report: CommandSpec = {
  name: 'report',
  summary: 'Report what a run did, to hand it in',
  section: 'Change sets',
  verbs: [
    {
      name: '',
      summary: 'Report what a run did: who, when, what, before and after, verdicts',
      args: [LATEST],
      options: ['report'],
      details:
        'Markdown unless told otherwise; junit is for the test view of a CI system, curl is a bash script\n' +
        'of the same requests. Secrets are in none of them.',
      examples: [
        'report',
        'report 20261121-093041-k3qd --as junit > devsh.xml',
        'report --as curl > again.sh',
      ],
      async *run(call) {
        const data = reportOf(await namedRun(call));
        const { as } = call.options;
        const isData = as === undefined || as === 'json';
        yield {
          kind: 'text',
          name: 'report',
          text: WRITE[as ?? 'markdown'](data),
          // Who asked for JSON and for no kind of report does not want Markdown in a string.
          ...(isData && { data: reportData(data) }),
        };
      },
    },
  ],
};
