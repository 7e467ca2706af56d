import type { DevshError } from '../errors.ts';
import type { Format } from '../shell/grammar/options.ts';
import type { Output } from '../shell/output.ts';
import { documentOf } from './document.ts';
import { toJson } from './json.ts';
import { jsonLinesWriter } from './jsonl.ts';
import { remarkWriter, type RemarkWriter } from './remark-text.ts';
import type { Streams, Writer } from './streams.ts';
import { textWriter } from './text-writer.ts';

/** The formats that need no library: a start for them loads none. */
export type QuickFormat = Exclude<Format, 'yaml' | 'csv'>;

/** Data goes to `out`; plans, remarks, progress and errors go to `err`. */
export function quickWriter(format: QuickFormat, streams: Streams): Writer {
  const remarks = remarkWriter(streams);
  const indent = streams.isTty ? { indent: 2 } : {};
  switch (format) {
    case 'table':
      return textWriter(streams, remarks);
    case 'jsonl':
      return silenceable(jsonLinesWriter(streams), remarks);
    case 'json':
      return silenceable(
        gathering((outputs, error) => {
          streams.out(toJson(documentOf(outputs, error), indent) + '\n');
        }),
        remarks,
      );
  }
}

/** Says all at the end, and at each checkpoint. */
export function gathering(
  finish: (outputs: readonly Output[], error?: DevshError) => void,
): Writer {
  let outputs: Output[] = [];
  let hasFinished = false;
  return {
    write(output) {
      if (output.kind === 'checkpoint') {
        finish(outputs);
        outputs = [];
        hasFinished = true;
      } else if (output.kind !== 'progress' && output.kind !== 'message') {
        outputs.push(output);
      }
    },
    end(error) {
      // After a checkpoint an empty document would say nothing.
      if (!hasFinished || outputs.length > 0 || error) finish(outputs, error);
    },
  };
}

/** Formats for programs hold every failure themselves; only remarks are left for people. */
export function silenceable(writer: Writer, remarks: RemarkWriter): Writer {
  return {
    write(output) {
      if (output.kind === 'message' || output.kind === 'progress') {
        remarks.write(output);
        return;
      }
      // A question may follow, and it can only be answered by who has seen the plan.
      if (output.kind === 'plan' && !output.dryRun) remarks.write(output);
      remarks.clear();
      writer.write(output);
    },
    end(error) {
      remarks.clear();
      writer.end(error);
    },
  };
}
