import { recordName } from '../plan.ts';
import { valueText } from '../../device/record.ts';
import { visible } from '../../text/visible.ts';
import {
  mostUrgentFirst,
  remarksOf,
  type DeviceReport,
  type FieldChange,
  type Report,
  type StepReport,
} from './report.ts';

type Kind = 'passed' | 'failure' | 'error' | 'skipped';

interface TestCase {
  readonly kind: Kind;
  readonly xml: string;
}

/**
 * A report as JUnit XML, for the test view of a CI system: one suite, one case for each step, with the
 * device as its class. `no effect`, `differs`, `failed` and `drift` are failures; `unknown` and unreadable
 * devices are errors.
 */
export function junitReport(report: Report): string {
  const cases = mostUrgentFirst(report.devices).flatMap(deviceCases);
  const count = (kind: Kind): number => cases.filter((one) => one.kind === kind).length;
  const attributes = attributesText({
    name: `devsh run ${report.run}`,
    tests: String(cases.length),
    failures: String(count('failure')),
    errors: String(count('error')),
    skipped: String(count('skipped')),
  });
  const details = attributesText({ timestamp: report.at, ...timeOf(report) });
  const properties = Object.entries({
    command: report.command,
    ...(report.reason !== undefined && { reason: report.reason }),
    by: report.by,
    state: report.state,
    ...(report.owed.length > 0 && { owed: report.owed.join(', ') }),
    version: report.version,
  }).map(([name, value]) => `      <property${attributesText({ name, value })}/>`);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites${attributes}>`,
    `  <testsuite${attributes}${details}>`,
    '    <properties>',
    ...properties,
    '    </properties>',
    ...cases.map(({ xml }) => xml),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function deviceCases({ device, error, steps }: DeviceReport): TestCase[] {
  if (error && steps.length === 0) {
    const element = resultElement('error', 'failed', error.message, '');
    return [{ kind: 'error', xml: caseXml(device.name, 'read', [element]) }];
  }
  return steps.map((step) =>
    stepCase(device.name, error === undefined ? KINDS[step.result.verdict] : 'error', step),
  );
}

function stepCase(device: string, kind: Kind, { result, changes }: StepReport): TestCase {
  const { action, verdict } = result;
  const remarks = remarksOf(result).join('; ');
  const lines = changes.map(changeLine).join('\n');
  const output = [remarks, lines].filter((text) => text !== '').join('\n');
  const element =
    kind === 'passed'
      ? elementXml('system-out', output)
      : resultElement(kind, verdict, remarks === '' ? verdict : remarks, lines);
  const elements = kind === 'passed' && output === '' ? [] : [element];
  return { kind, xml: caseXml(device, `${action} ${recordName(result)}`, elements) };
}

const KINDS: Readonly<Record<StepReport['result']['verdict'], Kind>> = {
  done: 'passed',
  unchanged: 'passed',
  'no effect': 'failure',
  differs: 'failure',
  failed: 'failure',
  drift: 'failure',
  unknown: 'error',
  skipped: 'skipped',
};

/** `lang: before de, planned en, held fr`; a dash for an unknown value. */
function changeLine({ field, before, planned, held }: FieldChange): string {
  const shown = (value: FieldChange['held']): string =>
    value === undefined ? '–' : visible(valueText(value));
  return `${visible(field)}: before ${shown(before)}, planned ${shown(planned)}, stored ${shown(held)}`;
}

function caseXml(device: string, name: string, elements: readonly string[]): string {
  const open = `    <testcase${attributesText({ classname: device, name })}`;
  return elements.length === 0
    ? `${open}/>`
    : [`${open}>`, ...elements, '    </testcase>'].join('\n');
}

function resultElement(
  kind: Exclude<Kind, 'passed'>,
  type: string,
  message: string,
  text: string,
): string {
  return elementXml(kind, text, kind === 'skipped' ? { message } : { type, message });
}

function elementXml(
  name: string,
  text: string,
  attributes: Readonly<Record<string, string>> = {},
): string {
  const lines = text.split('\n').map(xmlText).join('\n');
  return `      <${name}${attributesText(attributes)}>${lines}</${name}>`;
}

function attributesText(attributes: Readonly<Record<string, string>>): string {
  return Object.entries(attributes)
    .map(([name, value]) => ` ${name}="${xmlText(value)}"`)
    .join('');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** `visible` also escapes what XML 1.0 forbids (section 2.2). */
function xmlText(text: string): string {
  return visible(text).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

function timeOf({ at, endedAt }: Report): { time?: string } {
  const seconds = (Date.parse(endedAt ?? '') - Date.parse(at)) / 1000;
  return seconds >= 0 ? { time: seconds.toFixed(3) } : {};
}
