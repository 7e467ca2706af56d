import type {
  AnswerOutput,
  DriftOutput,
  Output,
  ReadOutput,
  TableOutput,
} from '../shell/output.ts';
import { changeLine } from './change-text.ts';
import { driftCells } from './drift-text.ts';
import { markdownLines } from './markdown-text.ts';
import { planLines } from './plan-text.ts';
import { inSelectionOrder, readCells, readTable } from './read-table.ts';
import { recordLines } from './record-text.ts';
import type { RemarkWriter } from './remark-text.ts';
import { resultLine, summaryLine } from './result-text.ts';
import { visible, visibleLines } from '../visible.ts';
import { toJson } from './json.ts';
import { createStyle, type Style } from './style.ts';
import { alignedLines, tabbedLines, type TextTable } from './table-text.ts';
import { cellText, fieldText } from './value.ts';
import type { Streams, Writer } from './streams.ts';

/** For people, and for `cut` and `awk` when `out` is no terminal. */
export function textWriter(streams: Streams, remarks: RemarkWriter): Writer {
  const style = createStyle(streams.color);
  let reads: ReadOutput[] = [];

  const print = (lines: readonly string[]): void => {
    remarks.clear();
    if (lines.length > 0) streams.out(lines.join('\n') + '\n');
  };
  const table = (text: TextTable): void => {
    // Who has it read aloud hears each value to its end.
    const width = streams.typed?.isReadAloud === true ? Infinity : streams.columns;
    print(streams.isTty ? alignedLines(text, width, style) : tabbedLines(text));
  };
  const driftTable = (output: DriftOutput): void => {
    const cells = driftCells(output, streams.isTty);
    // Where all is the same, a message says so.
    if (cells.rows.length > 0 || !streams.isTty) table(cells);
  };
  const flushReads = (): void => {
    const [first] = reads;
    if (!first) return;
    const merged = readTable(first.view, reads);
    // With no answer at all there is no table, only the reasons.
    if (reads.some(({ outcome }) => outcome.ok)) {
      const { layout, key, columns } = first.view;
      // A single object is read best as a block, too.
      const isBlock = layout === 'record' || (key === '' && columns === undefined);
      if (isBlock) print(recordLines(merged, style));
      else table(readCells(merged, streams.isTty));
      const hasFooter = streams.isTty && !streams.quiet && !isBlock;
      if (hasFooter) remarks.lines([style('quiet', merged.footer())]);
    }
    for (const read of inSelectionOrder(reads)) remarks.write(read);
    reads = [];
  };
  const writeData = (output: Output): void => {
    switch (output.kind) {
      case 'result':
        print([resultLine(output.result, style)]);
        break;
      case 'summary':
        print([summaryLine(output, style)]);
        break;
      case 'change':
        print([changeLine(output, style)]);
        break;
      case 'drift':
        driftTable(output);
        break;
      case 'table':
        table(tableCells(output));
        break;
      case 'text':
        if (output.isMarkdown === true && streams.isTty) {
          print(markdownLines(output.text, streams.columns, style));
        } else {
          print([visibleLines(output.text.replace(/\n$/, ''))]);
        }
        break;
      case 'answer':
        if (!streams.quiet || output.status >= 400) remarks.lines([answerHead(output, style)]);
        streams.out(answerText(output, streams.isTty));
        break;
      case 'plan':
        if (output.dryRun) print(planLines(output.plan, style));
        else remarks.write(output);
        break;
      case 'read':
      case 'progress':
      case 'message':
      case 'error':
      case 'checkpoint':
      case 'quit':
        remarks.write(output);
        break;
    }
  };
  return {
    write(output) {
      if (output.kind === 'read') {
        const [first] = reads;
        if (first && !isSameTable(first, output)) flushReads();
        reads.push(output);
        return;
      }
      // Devices answer while remarks are made; all else comes after the table.
      if (output.kind !== 'progress' && output.kind !== 'message') flushReads();
      writeData(output);
    },
    end(error) {
      flushReads();
      remarks.end(error);
    },
  };
}

function isSameTable(a: ReadOutput, b: ReadOutput): boolean {
  return a.view.resource === b.view.resource && a.view.layout === b.view.layout;
}

/** What is compared or typed again, besides what the first column names. */
const WHOLE: ReadonlySet<string> = new Set([
  'address',
  'device',
  'devices',
  'run',
  'fingerprint',
  'verdicts',
]);

function tableCells({ columns, rows, showsSecrets }: TableOutput): TextTable {
  return {
    columns: columns.map(({ key, title, isExtra }, index) => ({
      title,
      role: index === 0 || WHOLE.has(key) ? 'whole' : isExtra === true ? 'extra' : 'field',
    })),
    rows: rows.map((row) =>
      columns.map(({ key }) =>
        showsSecrets === true ? cellText(row[key]) : fieldText(key, row[key]),
      ),
    ),
  };
}

function answerHead({ device, status }: AnswerOutput, style: Style): string {
  return style(status < 400 ? 'quiet' : 'bad', `${visible(device.name)}: HTTP ${status}`);
}

/** A body goes to a file as it came; a terminal must not obey it. */
function answerText({ value, body }: AnswerOutput, isTty: boolean): string {
  if (value !== undefined) return toJson(value, { indent: 2 }) + '\n';
  if (!isTty) return body;
  return body === '' ? '' : visibleLines(body.replace(/\n$/, '')) + '\n';
}
