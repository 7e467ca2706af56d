import {
  csvReport,
  jsonReport,
  type Report,
  reportData,
  reportOf,
} from '../../change/report/report.ts';
import { curlReport } from '../../change/report/curl.ts';
import { junitReport } from '../../change/report/junit.ts';
import { markdownReport } from '../../change/report/markdown.ts';
import type { Run } from '../../change/journal.ts';
import type { ReportKind } from '../grammar/options.ts';
import type { TextOutput } from '../output.ts';

const WRITE: Readonly<Record<ReportKind, (report: Report) => string>> = {
  markdown: markdownReport,
  json: jsonReport,
  junit: junitReport,
  csv: csvReport,
  curl: curlReport,
};

/** What a run did, in the form that is asked for. */
export function runReport(run: Run, as: ReportKind | undefined): TextOutput {
  const data = reportOf(run);
  return {
    kind: 'text',
    name: 'report',
    text: WRITE[as ?? 'markdown'](data),
    // Who asks for Markdown by name wants its signs, on a terminal, too.
    ...(as === undefined && { isMarkdown: true as const }),
    // Who asked for JSON and for no kind of report does not want Markdown in a string.
    ...((as === undefined || as === 'json') && { data: reportData(data) }),
  };
}
