import type { DevshError } from '../errors.ts';
import type { MessageOutput, Output, ProgressOutput } from '../shell/output.ts';
import { causeLines, errorLines, type Failure } from './error-text.ts';
import { planLines } from './plan-text.ts';
import { visible, visibleLines } from '../text/visible.ts';
import { createStyle, type Streams, type Style } from './streams.ts';
import { cut } from '../text/width.ts';

/** What stands beside the data, on `err`, whatever the format of the data is. */
export interface RemarkWriter {
  /** Writes what is a remark in this output: a plan, a message, progress, a failed device. */
  write(output: Output): void;
  lines(lines: readonly string[]): void;
  /** Takes the progress line away; to be called before anything else is written. */
  clear(): void;
  end(error: DevshError | undefined): void;
}

/** Eyes see no more, and a fleet answers faster than a terminal draws. */
const PROGRESS_EVERY_MS = 33;

const CLEAR_LINE = '\r\u001B[K';

export function remarkWriter(streams: Streams): RemarkWriter {
  const style = createStyle(streams.color);
  let hasProgress = false;
  let shownAt = -Infinity;

  const print = (texts: readonly string[]): void => {
    if (hasProgress) streams.err(CLEAR_LINE);
    hasProgress = false;
    if (texts.length > 0) streams.err(texts.join('\n') + '\n');
  };
  // Devices that fail at once, for the same cause, are one line.
  let failures: Failure[] = [];
  const clear = (): void => {
    print(causeLines(failures).map((text) => style('bad', text)));
    failures = [];
  };
  const lines = (texts: readonly string[]): void => {
    clear();
    print(texts);
  };
  return {
    clear,
    lines,
    write(output) {
      if (output.kind === 'progress') {
        if (!streams.isErrTty || streams.quiet) return;
        const now = performance.now();
        if (hasProgress && now - shownAt < PROGRESS_EVERY_MS && output.done < output.total) return;
        shownAt = now;
        streams.err(CLEAR_LINE + cut(progressText(output), streams.columns - 1));
        hasProgress = true;
        return;
      }
      const failure = failureOf(output);
      if (failure === undefined) lines(remarkLines(output, streams.quiet, style));
      else if (failures.push(failure) === 1) setImmediate(clear);
    },
    end(error) {
      clear();
      if (error) lines(errorLines(error, style, streams.typed));
    },
  };
}

function failureOf(output: Output): Failure | undefined {
  if (output.kind === 'read' && !output.outcome.ok)
    return { device: output.device, error: output.outcome.error };
  if (output.kind === 'error' && output.device !== undefined)
    return { device: output.device, error: output.error };
  return undefined;
}

function remarkLines(output: Output, isQuiet: boolean, style: Style): string[] {
  switch (output.kind) {
    case 'plan':
      return planLines(output.plan, style);
    case 'message':
      return isQuiet && output.level !== 'warning' ? [] : [messageText(output, style)];
    case 'error':
      return errorLines(output.error, style);
    case 'read':
    case 'progress':
    case 'change':
    case 'result':
    case 'summary':
    case 'drift':
    case 'table':
    case 'text':
    case 'answer':
    case 'checkpoint':
    case 'quit':
      return [];
  }
}

function messageText({ level, text }: MessageOutput, style: Style): string {
  const shown = visibleLines(text);
  switch (level) {
    case 'info':
      return shown;
    case 'done':
      return `${style('good', '✓')} ${shown}`;
    case 'warning':
      return `${style('warning', 'warning:')} ${shown}`;
  }
}

function progressText({ done, total, text }: ProgressOutput): string {
  return total === 0 ? visible(text) : `${done}/${total} ${visible(text)}`;
}
