import { counted } from '../../text/one-line.ts';
import { notCoveredText, recordName } from '../../change/plan.ts';
import { documentedProfile } from '../../device/built-in-profiles.ts';
import { grouped, type Value, valueText } from '../../device/record.ts';
import { visible } from '../../text/visible.ts';
import {
  countsText,
  mostUrgentFirst,
  remarksOf,
  verdictOf,
  type DeviceReport,
  type FieldChange,
  type Report,
  type StepReport,
} from '../../change/report.ts';
import { countsOf } from '../../change/run-results.ts';

/** Matches punctuation of Markdown and HTML, blanks that would be lost, and parts that make a text a link. */
const MEANINGFUL =
  /[\\`*[\]<>|&~#$@]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])|^ | $|(?<= ) |:(?=\/\/)|(?<=www)\./giu;

/**
 * A head, a table of all devices, and the changes. Devices that differ only in ids share one section.
 *
 * @param level the level of the first heading, because the report may be a part of another document
 */
export function markdownReport(report: Report, level = 1): string {
  const devices = mostUrgentFirst(report.devices);
  const { idFields } = documentedProfile;
  const absent = notCoveredText(report.notCovered);
  const lines = [
    `# devsh run ${inline(report.run)}`,
    '',
    `**${countsText(report.counts)}** on ${counted(devices.length, 'device')}`,
    ...(absent === '' ? [] : ['', inline(absent)]),
    ...(report.pending.length === 0 ? [] : ['', `Pending: ${inline(report.pending.join(', '))}`]),
    '',
    ...table(
      ['What', 'Value'],
      [
        ['Command', inline(report.command)],
        ...(report.reason === undefined ? [] : [['Reason', inline(report.reason)]]),
        ['By', inline(report.by)],
        ['Began', inline(report.at)],
        ['Ended', inline(report.endedAt ?? 'not ended')],
        ['State', inline(report.state)],
        ['devsh', inline(report.version)],
      ],
    ),
    '',
    '## Devices',
    '',
    ...table(['Device', 'Address', 'Verdict', 'Steps'], devices.map(deviceRow)),
    // Devices with the same outcome share a section. Each device assigns its ids itself.
    ...[...grouped(devices, (one) => bodyLines([one], idFields).join('\n')).values()].flatMap(
      sectionLines,
    ),
  ];
  const more = '#'.repeat(level - 1);
  return lines.map((line) => (line.startsWith('#') ? more + line : line)).join('\n') + '\n';
}

function deviceRow(one: DeviceReport): string[] {
  const counts = countsOf(one.steps.map(({ result }) => result));
  const steps = one.error ? 'could not be read' : countsText(counts);
  return [inline(one.device.name), inline(one.device.address), verdictOf(one), steps];
}

function sectionLines(devices: readonly [DeviceReport, ...DeviceReport[]]): string[] {
  const [first] = devices;
  const names = devices.map(({ device }) => inline(device.name)).join(', ');
  const count = devices.length === 1 ? '' : ` (${devices.length} devices)`;
  return ['', `## ${names}${count}: ${verdictOf(first)}`, ...bodyLines(devices)];
}

/** The steps of devices with the same outcome, without the fields that are left out. */
function bodyLines(devices: readonly DeviceReport[], leftOut: readonly string[] = []): string[] {
  const [first] = devices;
  if (first === undefined) return [];
  if (first.error && first.steps.length === 0) {
    return ['', `Could not be read: ${inline(first.error.message)}`];
  }
  return first.steps.flatMap(({ result, changes }, index) => {
    const { action, verdict } = result;
    const sameSteps = devices.flatMap(({ steps }) => steps[index] ?? []);
    const rows = changes
      .filter(({ field }) => !leftOut.includes(field))
      .map((change) => changeRow(change, sameSteps));
    return [
      '',
      `### ${action} ${inline(recordName(result))}: ${verdict}`,
      ...remarksOf(result).flatMap((remark) => ['', `Remark: ${inline(remark)}`]),
      ...(rows.length === 0
        ? []
        : ['', ...table(['Field', 'Before', 'Planned', 'Stored afterwards'], rows)]),
    ];
  });
}

function changeRow(change: FieldChange, sameSteps: readonly StepReport[]): string[] {
  const { field } = change;
  const cell = (part: 'before' | 'planned' | 'held'): string => {
    const own = cellText(change[part]);
    const isSame = sameSteps.every(({ changes }) => {
      return cellText(changes.find((other) => other.field === field)?.[part]) === own;
    });
    return isSame ? own : '(differs by device)';
  };
  return [inline(field), cell('before'), cell('planned'), cell('held')];
}

function cellText(value: Value | undefined): string {
  if (value === undefined) return '–';
  const text = valueText(value);
  return text === '' ? '(empty)' : inline(text);
}

/** @param rows cells that are safe in Markdown already */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [row(head), row(head.map(() => '---')), ...rows.map(row)];
}

/** Writes syntax as character references, because renderers disagree on backslashes before a `|` in a table. */
export function inline(text: string): string {
  return visible(text).replace(MEANINGFUL, (character) => `&#${character.codePointAt(0) ?? 0};`);
}
