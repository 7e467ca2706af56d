import type { DevshError } from '../errors.ts';
import type { MessageOutput, Output, ProgressOutput } from '../shell/output.ts';
import { errorLines, failureLine } from './error-text.ts';
import { planLines } from './plan-text.ts';
import { visible, visibleLines } from '../visible.ts';
import { createStyle, type Style } from './style.ts';
import { cut } from './width.ts';
import type { Streams } from './streams.ts';

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
export const PROGRESS_EVERY_MS = 33;

const CLEAR_LINE = '\r\u001B[K';

export function remarkWriter(streams: Streams): RemarkWriter {
  const style = createStyle(streams.color);
  let hasProgress = false;
  let shownAt = -Infinity;

  const clear = (): void => {
    if (hasProgress) streams.err(CLEAR_LINE);
    hasProgress = false;
  };
  const lines = (texts: readonly string[]): void => {
    clear();
    if (texts.length > 0) streams.err(texts.join('\n') + '\n');
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
      lines(remarkLines(output, streams.quiet, style));
    },
    end(error) {
      if (error) lines(errorLines(error, style, streams.typed));
      else clear();
    },
  };
}

function remarkLines(output: Output, isQuiet: boolean, style: Style): string[] {
  switch (output.kind) {
    case 'plan':
      return planLines(output.plan, style);
    case 'message':
      return isQuiet && output.level !== 'warning' ? [] : [messageText(output, style)];
    case 'error':
      return output.device
        ? [failureLine(output.device, output.error, style)]
        : errorLines(output.error, style);
    case 'read':
      return output.outcome.ok ? [] : [failureLine(output.device, output.outcome.error, style)];
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
  return `${done}/${total} ${visible(text)}`;
}
