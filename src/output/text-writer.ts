import type {
  AnswerOutput,
  ChangeOutput,
  MessageOutput,
  Output,
  ReadOutput,
  TableOutput,
  View,
} from '../shell/output.ts';
import { progressMeter } from './progress.ts';
import { driftCells } from './drift-text.ts';
import { cautionLines, planLines, resultLines, summaryLine } from './change-text.ts';
import { inSelectionOrder, readCells, readTable } from './read-table.ts';
import { recordLines, recordOf } from './record-text.ts';
import { cut, visible, visibleLines, widthOf } from '../text/visible.ts';
import { toJson } from './document.ts';
import {
  causeLines,
  createStyle,
  errorLines,
  type Failure,
  failureOf,
  type Streams,
  type Style,
  type Tone,
  type Writer,
  writeInPieces,
} from './streams.ts';
import {
  alignedLines,
  tabbedLines,
  type TextColumn,
  type LongTable,
  type TextTable,
} from './table-text.ts';
import { cellText, fieldText, quotedText } from './cells.ts';
import { grouped, type Value, valueAt, valueText } from '../device/record.ts';
import { isGuess } from '../device/sensitive-fields.ts';
import { clockTime } from '../text/time.ts';
import type { FoldedRow } from '../fleet/fold.ts';
import { type DevshError, UsageError } from '../errors.ts';
import type { Plan } from '../change/plan.ts';
import type { StepResult } from '../change/verdict.ts';

/** For people, and for `cut` and `awk` when `out` is no terminal. */
export function textWriter(streams: Streams, remarks: RemarkWriter): Writer {
  const style = createStyle(streams.color);
  let reads: ReadOutput[] = [];

  const print = (lines: Iterable<string>): void => {
    remarks.clear();
    writeInPieces(lines, streams.out, '\n');
  };
  // What the results are about, and those of a run so far: one line where the same happened.
  let plan: Plan | undefined;
  let results: StepResult[] = [];
  const flushResults = (): void => {
    if (results.length > 0) print(resultLines(results, plan, style));
    results = [];
  };
  const table = (text: LongTable): void => {
    // A screen reader gets each value whole.
    const width = streams.typed?.isReadAloud === true ? Infinity : streams.columns;
    const lines = streams.isTty ? alignedLines(text, width, style) : tabbedLines(text, style);
    print(streams.noHeaders === true ? Iterator.from(lines).drop(1) : lines);
  };
  const flushReads = (): void => {
    const [first] = reads;
    if (!first) return;
    const merged = readTable(first.view, reads, isTogether(streams));
    // If no device responded there is no table, only the reasons.
    if (reads.some(({ outcome }) => outcome.ok)) {
      const { layout, key, columns } = first.view;
      // A single object is read best as a block, too.
      const isBlock = layout === 'record' || (key === '' && columns === undefined);
      if (isBlock) print(recordBlocks(first.view, reads, streams, style));
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
        results.push(output.result);
        if (streams.verbose === true) flushResults();
        break;
      case 'summary':
        print([summaryLine(output, style)]);
        break;
      case 'change':
        print([changeLine(output, style)]);
        break;
      case 'drift': {
        const cells = driftCells(output, streams.isTty);
        // Without drift a message says so.
        if (cells.rows.length > 0 || !streams.isTty) table(cells);
        break;
      }
      case 'table':
        if (output.isDataOnly) break;
        if (output.rows.length > 0 || output.hasDifferences !== false || !streams.isTty)
          table(tableCells(output, streams.isTty));
        break;
      case 'text':
        if (output.isMarkdown === true && streams.isTty) {
          print(markdownLines(output.text, streams.columns, style));
        } else {
          print([visibleLines(output.text.replace(/\n$/, ''))]);
        }
        break;
      case 'answer':
        if (!streams.quiet || output.status >= 400) {
          const head = `${visible(output.device.name)}: HTTP ${output.status}`;
          remarks.lines([style(output.status < 400 ? 'quiet' : 'bad', head)]);
        }
        streams.out(answerText(output, streams.isTty));
        break;
      case 'plan':
        plan = output.plan;
        if (output.dryRun) print(planLines(plan, style));
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
        const { resource, layout } = output.view;
        const isSame = first?.view.resource === resource && first.view.layout === layout;
        if (first && !isSame) flushReads();
        reads.push(output);
        return;
      }
      if (!WHILE_WRITING.has(output.kind)) flushResults();
      // Devices answer while remarks are made; all else comes after the table.
      if (output.kind !== 'progress' && output.kind !== 'message') flushReads();
      writeData(output);
    },
    end(error) {
      // A question that cannot be right has no answer, not even an empty one.
      flushResults();
      if (error instanceof UsageError) reads = [];
      flushReads();
      remarks.end(error);
    },
  };
}

const WHILE_WRITING: ReadonlySet<Output['kind']> = new Set(['result', 'progress', 'message']);

/** Columns that are compared or typed again, besides the first. */
const WHOLE = new Set(
  'address device devices run fingerprint verdicts fact finding sends why'.split(' '),
);

/** Columns of ISO 8601 times. A terminal shows them as the screen does; programs get them whole. */
const TIMES = new Set('at since when last_read firstSeen first last gapFrom gapTo'.split(' '));
const ISO_TIME = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;

/** An interval only where it is longer than a minute. */
const PRECISE_MS = 60_000;

/** `17:02`, `09:12 – 09:41`. */
function timeText(text: string): string {
  const [begin = NaN, end = NaN] = (text.match(ISO_TIME) ?? []).map((time) => Date.parse(time));
  if (end - begin <= PRECISE_MS) return clockTime(new Date(end));
  const shown = text.replace(ISO_TIME, (time) => clockTime(new Date(time)));
  return visible(shown.replace(/^between (.*) and /, '$1 – '));
}

function tableCells({ columns, rows, showsSecrets }: TableOutput, isTty: boolean): TextTable {
  const textOf = (key: string, value: Value | undefined): string => {
    if (isTty && TIMES.has(key) && typeof value === 'string' && value.search(ISO_TIME) !== -1)
      return timeText(value);
    // A column `key` of devsh is no field of a device.
    return showsSecrets === true || isGuess(key, value) ? cellText(value) : fieldText(key, value);
  };
  return {
    columns: columns.map(({ key, title, isExtra }, index) => ({
      title,
      role: index === 0 || WHOLE.has(key) ? 'whole' : isExtra === true ? 'extra' : 'field',
    })),
    rows: rows.map((row) => columns.map(({ key }) => textOf(key, row[key]))),
  };
}

/** A file gets the body unchanged; on a terminal its control characters are made visible. */
function answerText({ value, body }: AnswerOutput, isTty: boolean): string {
  if (value !== undefined) return toJson(value, { indent: 2 }) + '\n';
  if (!isTty) return body;
  return body === '' ? '' : visibleLines(body.replace(/\n$/, '')) + '\n';
}

const SIGNS: Readonly<Record<ChangeOutput['change']['kind'], readonly [Tone, string]>> = {
  added: ['good', '+'],
  removed: ['bad', '-'],
  changed: ['warning', '~'],
};

/** `12:03:05 ~ fw1 user bob: lang en -> de`. */
function changeLine({ at, device, view, change }: ChangeOutput, style: Style): string {
  const { kind, record } = change;
  const named = [visible(device.name), visible(view.resource), visible(change.key)];
  const what =
    kind === 'changed'
      ? change.fields.map((field) => {
          const [old, now] = [valueAt(change.before, field), valueAt(record, field)];
          return `${visible(field)} ${quotedText(field, old)} -> ${quotedText(field, now)}`;
        })
      : [kind];
  // Local time.
  const head = `${at.toTimeString().slice(0, 8)} ${style(...SIGNS[kind])}`;
  return `${head} ${named.filter((word) => word !== '').join(' ')}: ${what.join(', ')}`;
}

/** Whether records of several devices are shown together: for eyes, not for programs or screen readers. */
function isTogether({ isTty, typed }: Streams): boolean {
  return isTty && typed?.isReadAloud !== true;
}

/** Each record with every field: on a terminal together by name, for programs one block per device. */
function recordBlocks(
  view: View,
  reads: readonly ReadOutput[],
  streams: Streams,
  style: Style,
): string[] {
  const together = isTogether(streams);
  const { rows, key: keyField } = readTable({ ...view, fold: together }, reads);
  const read = new Set(reads.flatMap(({ device, outcome }) => (outcome.ok ? [device.name] : [])));
  const names = inSelectionOrder(reads).map(({ device }) => device.name);
  const nameOf = (row: FoldedRow): string | FoldedRow => {
    // A single object has no name; any other record without one stands alone.
    if (together && keyField === '') return '';
    return (together && valueText(row.record[keyField])) || row;
  };
  return [...grouped(rows, nameOf).values()].flatMap((same, index) => {
    const devices = together ? names : same[0].devices.map(({ name }) => name);
    const isAlone = devices.length === 1;
    const isRead = (name: string): boolean => read.has(name);
    const record = recordOf(same, { names: devices, view, keyField, isRead });
    const lines = recordLines(record, isAlone ? Infinity : streams.columns);
    return [
      ...(index > 0 ? [''] : []),
      ...(isAlone ? [style('heading', visible(devices.join('')))] : []),
      ...lines.map((line) =>
        line.map(({ tone, text }) => (tone === 'plain' ? text : style(tone, text))).join(''),
      ),
    ];
  });
}

/** For our own reports: headings with a rule below, tables aligned. Rows of two cells are never cut. */
export function markdownLines(markdown: string, columns: number, style: Style): string[] {
  const blocks: string[][] = [];
  for (const line of markdown.replace(/\n+$/, '').split('\n')) {
    const last = blocks.at(-1);
    if (line.startsWith('|') && last?.[0]?.startsWith('|') === true) last.push(line);
    else blocks.push([line]);
  }
  return blocks.flatMap((lines) => {
    const [line = ''] = lines;
    return line.startsWith('|') ? tableLines(lines, columns, style) : textLines(line, style);
  });
}

function textLines(line: string, style: Style): string[] {
  const [, level = '', title] = /^(#{1,6}) (.*)$/.exec(line) ?? [];
  if (title === undefined) return [plainText(line)];
  const text = plainText(title);
  const heading = style('heading', text);
  return level.length > 2 ? [heading] : [heading, '─'.repeat(widthOf(text))];
}

/** The first line names the columns, the second one parts it from the rows. */
function tableLines(lines: readonly string[], columns: number, style: Style): string[] {
  const [head = [], , ...rows] = lines.map((line) =>
    line
      .replace(/^\| | \|$/g, '')
      .split(' | ')
      .map(plainText),
  );
  const titles = head.map((title, index): TextColumn => {
    return { title: title.toUpperCase(), role: index === 0 ? 'key' : 'field' };
  });
  const isPairs = titles.length === 2;
  const aligned = alignedLines({ columns: titles, rows }, isPairs ? Infinity : columns, style);
  return isPairs ? aligned.slice(1) : aligned;
}

/** Without the signs of Markdown; literal signs are character references. */
function plainText(text: string): string {
  const bare = text.replaceAll('**', '');
  return visible(bare.replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code))));
}

/** Failures are said after this time, or before anything else is. */
const GATHERED_MS = 1_000;

const CLEAR_LINE = '\r\u001B[K';

export type RemarkWriter = ReturnType<typeof remarkWriter>;

/** Writes remarks to `err`, in every data format. */
export function remarkWriter(streams: Streams) {
  const style = createStyle(streams.color);
  const meter = progressMeter();
  let hasProgress = false;

  const print = (texts: readonly string[]): void => {
    if (hasProgress) streams.err(CLEAR_LINE);
    hasProgress = false;
    if (texts.length > 0) streams.err(texts.join('\n') + '\n');
  };
  let isHinted = false;
  /** Prints lines that name some devices, or with --verbose all. */
  const printCut = (linesOf: (named: 'all' | 'some') => string[]): void => {
    const whole = linesOf('all');
    const shown = streams.verbose === true ? whole : linesOf('some');
    const isCut = !isHinted && shown.some((text, index) => text !== whole[index]);
    isHinted ||= isCut;
    print([...shown, ...(isCut ? [style('quiet', '--verbose or --json names all')] : [])]);
  };
  // Devices that fail for the same cause are one line.
  let failures: Failure[] = [];
  let soon: NodeJS.Timeout | undefined;
  /** Removes the progress line; call before writing anything else. */
  const clear = (): void => {
    clearTimeout(soon);
    printCut((named) => causeLines(failures, named).map((text) => style('bad', text)));
    failures = [];
  };
  const lines = (texts: readonly string[]): void => {
    clear();
    print(texts);
  };
  return {
    clear,
    lines,
    /** Writes what is a remark in this output: a plan, a message, progress, a failed device. */
    write(output: Output): void {
      if (output.kind === 'progress') {
        if (!streams.isErrTty || streams.quiet) return;
        streams.err(CLEAR_LINE + cut(meter(output), streams.columns - 1));
        hasProgress = true;
        return;
      }
      if (output.kind === 'plan') {
        clear();
        printCut((named) =>
          output.isAgreed === true
            ? cautionLines(output.plan, named)
            : planLines(output.plan, style, named),
        );
        return;
      }
      const failure = failureOf(output);
      if (failure === undefined) lines(remarkLines(output, streams.quiet, style));
      else if (failures.push(failure) === 1) soon = setTimeout(clear, GATHERED_MS);
    },
    end(error: DevshError | undefined): void {
      clear();
      if (error) lines(errorLines(error, style, streams.typed));
    },
  };
}

function remarkLines(output: Output, isQuiet: boolean, style: Style): string[] {
  if (output.kind === 'error') return errorLines(output.error, style);
  const isShown = output.kind === 'message' && (!isQuiet || output.level === 'warning');
  return isShown ? [messageText(output, style)] : [];
}

function messageText({ level, text }: MessageOutput, style: Style): string {
  const shown = visibleLines(text);
  if (level === 'info') return shown;
  const label = level === 'done' ? style('good', '✓') : style('warning', 'warning:');
  return `${label} ${shown}`;
}
