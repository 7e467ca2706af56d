import { recordName } from '../../change/plan.ts';
import type { StepResult } from '../../change/verdict.ts';
import { reasonsOf, VERDICT_MARKS } from '../../output/change-text.ts';
import { visible } from '../../text/visible.ts';
import { namesText } from '../views/plan-lines.ts';
import type { LogLine } from '../state.ts';

interface Group {
  readonly result: StepResult;
  readonly reasons: string;
  readonly keys: string[];
  readonly devices: string[];
}

/** "✓ add user carol: done on fw1, fw2": equal results in one line, in the order of their coming. */
export function foldResults(results: readonly StepResult[]): LogLine[] {
  const byKey = groups(results, (result, reasons) => `${result.key}\n${reasons}`);
  // Several records with the same end on the same devices are one line, too.
  const merged = new Map<string, Group>();
  for (const group of byKey) {
    const { action, verdict } = group.result;
    const id = [action, verdict, group.reasons, ...group.devices].join('\n');
    const same = merged.get(id);
    if (same === undefined) merged.set(id, group);
    else same.keys.push(...group.keys);
  }
  return [...merged.values()].map(lineOf);
}

function groups(
  results: readonly StepResult[],
  idOf: (result: StepResult, reasons: string) => string,
): Group[] {
  const found = new Map<string, Group>();
  for (const result of results) {
    const reasons = reasonsOf(result).join('; ');
    const id = `${result.action}\n${result.verdict}\n${idOf(result, reasons)}`;
    const group = found.get(id);
    if (group !== undefined) group.devices.push(result.device.name);
    else found.set(id, { result, reasons, keys: [result.key], devices: [result.device.name] });
  }
  return [...found.values()];
}

function lineOf({ result, reasons, keys, devices }: Group): LogLine {
  const { mark, tone } = VERDICT_MARKS[result.verdict];
  const { action, resource, verdict } = result;
  const what = `${action} ${visible(recordName({ resource, key: keys.join(', ') }))}`;
  const tail = reasons === '' ? '' : ` - ${reasons}`;
  const line = (where: string): string => `${mark} ${what}: ${verdict} on ${where}${tail}`;
  return { tone, text: line(namesText(devices)), whole: line(devices.map(visible).join(', ')) };
}
