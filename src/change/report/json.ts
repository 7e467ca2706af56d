import { maskedRequest } from '../../device/encode.ts';
import { jsonText, type JsonValue } from '../../device/value-text.ts';
import { maskedDifference } from '../mask.ts';
import { maskedRecord } from '../../device/secret-fields.ts';
import type { DevshError } from '../../errors.ts';
import { replaceUnsafe } from '../../visible.ts';
import { notCoveredData } from '../not-covered.ts';
import { mostUrgentFirst, verdictOf, type Report, type StepReport } from './report.ts';

/** The version of the document, the same as that of `--json`. */
const SCHEMA = 'devsh/1';

/** A report as plain data, secrets masked: what stands under `report` in `--json`. */
export function reportData(report: Report): JsonValue {
  const { run, command, by, version, state, counts } = report;
  return {
    run,
    command,
    by,
    version,
    began: report.beganAt,
    ended: report.endedAt,
    state,
    counts,
    notCovered: notCoveredData(report.notCovered),
    devices: mostUrgentFirst(report.devices).map((one) => ({
      device: one.device.name,
      address: one.device.address,
      verdict: verdictOf(one),
      error: one.error && errorData(one.error),
      steps: one.steps.map(stepData),
    })),
  };
}

/** The report as a JSON document of its own, ending with a line break. */
export function jsonReport(report: Report): string {
  const text = jsonText({ schema: SCHEMA, report: reportData(report) }, { indent: 2 });
  // Line breaks inside strings are escaped already; those left belong to the layout.
  const lines = text.split('\n').map((line) => replaceUnsafe(line, escaped));
  return lines.join('\n') + '\n';
}

function stepData({ result, step, at, isSent, changes }: StepReport): JsonValue {
  const { action, resource, key, verdict, note, error, record, differences } = result;
  return {
    action,
    resource,
    key,
    verdict,
    at,
    sent: isSent,
    note,
    error: error && errorData(error),
    request: step && { ...maskedRequest(step.request) },
    changes: changes.map((change) => ({ ...change })),
    before: step?.before && maskedRecord(step.before),
    planned: step?.after && maskedRecord(step.after),
    held: record && maskedRecord(record),
    differences: differences?.map(maskedDifference),
  };
}

function errorData({ code, message }: DevshError): JsonValue {
  return { code, message };
}

function escaped(character: string): string {
  return Array.from({ length: character.length }, (_, index) => {
    return '\\u' + character.charCodeAt(index).toString(16).padStart(4, '0');
  }).join('');
}
