import type { Format } from '../shell/grammar/options.ts';
import { type Streams, type Writer, writeInPieces } from './streams.ts';
import type { Output } from '../shell/output.ts';
import type { DevshError } from '../errors.ts';
import type { LineObject } from '../shell/help/document-schema.ts';
import {
  answerObject,
  changeObject,
  devicePlanObject,
  documentOf,
  documentText,
  driftObjects,
  errorEntry,
  resultObject,
  toJson,
} from './document.ts';
import { remarkWriter, type RemarkWriter, textWriter } from './text-writer.ts';
import { notCoveredData, type Plan } from '../change/plan.ts';
import type { JsonValue } from '../device/record.ts';
import { viewedRecords } from './read-table.ts';

/** For the formats that need no library. Data goes to `out`; plans, remarks, progress and errors go to `err`. */
export function quickWriter(format: Exclude<Format, 'yaml' | 'csv'>, streams: Streams): Writer {
  const remarks = remarkWriter(streams);
  if (format === 'table') return textWriter(streams, remarks);
  if (format === 'jsonl') return silenceable(jsonLinesWriter(streams), remarks);
  const print = (outputs: readonly Output[], error?: DevshError): void => {
    const document = documentOf(outputs, error);
    if (streams.isTty) streams.out(toJson(document, { indent: 2 }) + '\n');
    else writeInPieces(documentText(document), streams.out);
  };
  return silenceable(gathering(print), remarks);
}

/** Writes everything at the end, and at each checkpoint. */
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
      if (!hasFinished || outputs.length > 0 || error) finish(outputs, error);
    },
  };
}

/** Formats for programs contain every failure; only remarks remain for `err`. */
export function silenceable(writer: Writer, remarks: RemarkWriter): Writer {
  return {
    write(output) {
      const isRemark = output.kind === 'message' || output.kind === 'progress';
      // A question may follow; its answer needs the plan.
      if (isRemark || (output.kind === 'plan' && !output.dryRun)) remarks.write(output);
      if (isRemark) return;
      remarks.clear();
      writer.write(output);
    },
    end(error) {
      remarks.clear();
      writer.end(error);
    },
  };
}

/** One JSON object a line, as it arrives: records, results, answers, errors. */
function jsonLinesWriter({ out }: Pick<Streams, 'out'>): Writer {
  let plans: Plan[] = [];
  const line = (value: JsonValue): void => lines([value]);
  const lines = (values: readonly JsonValue[]): void =>
    writeInPieces(
      values.values().map((value) => toJson(value)),
      out,
      '\n',
    );
  // A plan is data only if nothing follows it; unread devices are always data.
  const flushPlans = (asData: boolean): void => {
    for (const device of plans.flatMap(({ devices }) => devices)) {
      if (asData) line(devicePlanObject(device));
      else if (device.error) line(errorEntry({ device: device.device, error: device.error }));
    }
    plans = [];
  };
  return {
    write(output: Output) {
      if (output.kind === 'plan') plans.push(output.plan);
      else if (output.kind === 'result' || output.kind === 'summary') flushPlans(false);
      lines(linesOf(output));
    },
    end(error?: DevshError) {
      flushPlans(true);
      if (error) line(errorEntry({ error }));
    },
  };
}

function linesOf(output: Output): readonly LineObject[] {
  switch (output.kind) {
    case 'read': {
      const { device, outcome, view } = output;
      return outcome.ok
        ? viewedRecords(view, outcome.records).map((record) => ({ device: device.name, record }))
        : [errorEntry({ device, error: outcome.error })];
    }
    case 'change':
      return [changeObject(output)];
    case 'drift':
      return driftObjects(output);
    case 'result':
      return [resultObject(output.result)];
    case 'summary':
      return [
        {
          run: output.run,
          summary: output.counts,
          notCovered: notCoveredData(output.notCovered),
          pendingOn: output.pending?.length ? output.pending : undefined,
        },
      ];
    case 'table':
      return output.rows;
    case 'text':
      return [{ [output.name]: output.data ?? output.text }];
    case 'answer':
      return [answerObject(output)];
    case 'error':
      return [errorEntry(output)];
    case 'plan':
    case 'progress':
    case 'message':
    case 'checkpoint':
    case 'quit':
      return [];
  }
}
