import { notCoveredData } from '../change/not-covered.ts';
import type { Plan } from '../change/plan.ts';
import type { JsonValue } from '../device/value-text.ts';
import type { DevshError } from '../errors.ts';
import type { Output } from '../shell/output.ts';
import { answerObject, devicePlanObject, errorEntry, resultObject } from './document.ts';
import { driftObjects } from './drift-json.ts';
import { toJson, type JsonObject } from './json.ts';
import { viewedRecords } from './read-table.ts';
import type { Streams, Writer } from './streams.ts';

/** One JSON object a line, as it arrives: records, results, answers, errors. */
export function jsonLinesWriter({ out }: Pick<Streams, 'out'>): Writer {
  let plans: Plan[] = [];
  const line = (value: JsonValue): void => {
    out(toJson(value) + '\n');
  };
  // A plan is data only when nothing follows it; devices that it could not read are so always.
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
      for (const value of linesOf(output)) line(value);
    },
    end(error?: DevshError) {
      flushPlans(true);
      if (error) line(errorEntry({ error }));
    },
  };
}

function linesOf(output: Output): readonly JsonObject[] {
  switch (output.kind) {
    case 'read': {
      const { device, outcome, view } = output;
      return outcome.ok
        ? viewedRecords(view, outcome.records).map((record) => ({ device: device.name, record }))
        : [errorEntry({ device, error: outcome.error })];
    }
    case 'change': {
      const { at, device, view, change } = output;
      const [record = {}] = viewedRecords(view, [change.record]);
      const head = { time: at.toISOString(), device: device.name, change: change.kind };
      return [
        change.kind === 'changed'
          ? { ...head, key: change.key, fields: change.fields, record }
          : { ...head, key: change.key, record },
      ];
    }
    case 'drift':
      return driftObjects(output);
    case 'result':
      return [resultObject(output.result)];
    case 'summary':
      return [
        { run: output.run, summary: output.counts, notCovered: notCoveredData(output.notCovered) },
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
