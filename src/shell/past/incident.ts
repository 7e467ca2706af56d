import { withContinued } from '../../change/continued-run.ts';
import type { Run } from '../../change/journal.ts';
import type { Pending } from '../../change/pending.ts';
import { inline, markdownReport, table } from '../writing/markdown-report.ts';
import { countsText, reportData, reportOf } from '../../change/report.ts';
import { type DeviceRecord, grouped, valueText } from '../../device/record.ts';
import { expectedError, UsageError } from '../../errors.ts';
import { textOf } from '../../output/sentences.ts';
import { authorRunOf, eventText, foldEvents } from '../../history/fold-events.ts';
import { type DeviceHistory, NotReadError } from '../../history/history.ts';
import type { Moment } from '../../history/replay.ts';
import { zonedTime } from '../../text/time.ts';
import type { Call } from '../command.ts';
import type { Output } from '../output.ts';
import { changeText, readPending } from '../writing/pending.ts';
import { reportOutput, writeReport } from '../writing/run-report.ts';
import { lastActivity, runsSince } from '../writing/stored-runs.ts';
import { authorText, dataRow, isoText } from './change-rows.ts';
import { changesIn } from './list-changes.ts';
import {
  coverageOf,
  notCovered,
  offsetText,
  pastOf,
  type Period,
  periodOf,
  summaryRemarks,
} from './coverage.ts';

type Rows = readonly DeviceRecord[];

/** A "now" long ago, so that all times are written with their date: the document is read later. */
const LONG_AGO = new Date(0);

/** `report --since TIME`: one document with all that devsh knows of a period, without a request. */
export async function* incidentReport(
  call: Call<'output' | 'since' | 'until'>,
): AsyncGenerator<Output> {
  if (call.args.optional('RUN') !== undefined) {
    throw new UsageError(
      'either a RUN or --since: a RUN after --since is when it began, and a time of two words needs ' +
        'quotes: --since "yesterday 03:00"',
    );
  }
  const incident = await incidentOf(call);
  const data = { ...incident, folded: undefined, runs: incident.runs.map(reportData) };
  yield* writeReport(call, reportOutput(markdownOf(incident), data));
  for (const unread of incident.unread) yield { kind: 'error', error: new NotReadError(unread) };
}

async function incidentOf(call: Call<'since' | 'until'>) {
  const { services } = call.shell;
  const { since, until: end } = await periodOf(call);
  const period = { since, until: Math.min(end, services.now().getTime()) };
  // A run that began later than now began before the clock was set back.
  const left = await pendingDuring(call, { since, until: end });
  const { runs, unreadable } = await runsIn(call, { since, until: end });
  const unknown = left.unreadable.map((id) => [id, 'its journal cannot be read'] as const);
  const unread = [...new Map<string, string>([...unknown, ...unreadable])].map(
    ([id, why]) => `run ${id}: ${why}`,
  );
  const histories = await historiesOfAll(call, runs, since, unread);
  const { events } = await changesIn(services, histories, period);
  // The changes that no run of this devsh is proved to have made.
  const changes = events.filter(
    (event) => event.kind !== 'left' && authorRunOf(event) === undefined,
  );
  const covered = coverageOf(histories, period);
  const gaps = notCovered(covered, period, LONG_AGO);
  const edge = (time: number): Moment => ({ from: time, to: time });
  return {
    since: isoText(since),
    until: isoText(period.until),
    written: services.now().toISOString(),
    ...{ by: services.operator, version: services.version },
    unread: [...unread, ...gaps.errors.map(({ message }) => message)],
    uncertain: [...gaps.remarks, ...summaryRemarks(histories)],
    runs,
    pending: left.rows,
    changes: changes.map((event) => dataRow(event)),
    folded: foldEvents(changes, authorText).map((change) => ({
      after: change.after === undefined ? 'not known' : isoText(change.after),
      ...{ before: isoText(change.before), device: change.devices.join(', ') },
      ...{ what: eventText(change.events[0]), by: authorText(change.events[0]) },
    })),
    coverage: covered.map(({ device, resource, readings }) => {
      const gap = longestGap([edge(since), ...readings, edge(period.until)]) ?? edge(since);
      const times = { gapFrom: secondText(gap.from), gapTo: secondText(gap.to) };
      return { device, resource, readings: readings.length, ...times };
    }),
    clocks: histories.map((history) => clockOf(history, period.until)),
  };
}

function markdownOf(incident: Awaited<ReturnType<typeof incidentOf>>): string {
  const { runs, pending, folded, coverage, since, until, written, by, version } = incident;
  const isEmpty = runs.length + pending.length + folded.length === 0;
  const isRead = coverage.some(({ readings }) => readings > 0);
  const here = (time: string): string => zonedTime(Date.parse(time), LONG_AGO);
  const listed = (title: string, texts: readonly string[]): string[] =>
    texts.length === 0 ? [] : ['', `## ${title}`, '', ...texts.map((text) => `- ${inline(text)}`)];
  const head = [
    ['Since', `${since} (here ${here(since)})`],
    ['Until', `${until} (here ${here(until)})`],
    ['Written', `${written} by ${inline(by)}`],
    ['devsh', inline(version)],
  ];
  const lines = [
    `# devsh record of ${secondText(Date.parse(since))} to ${secondText(Date.parse(until))}`,
    '',
    ...table(['What', 'Value'], head),
    '',
    'Times with Z are UTC, by the clock of the machine of devsh. No device was asked for this document.',
    ...(isEmpty && !isRead ? ['', 'Nothing is known of this time: no run, no reading.'] : []),
    ...listed('Could not be read', incident.unread),
    ...listed('Not certain', incident.uncertain),
    ...section(
      'Runs',
      ['run', 'began', 'by', 'command', 'verdicts', 'not reached'],
      runs.map(({ run, at, by, command, counts, notCovered: absent }) => ({
        ...{ run, began: at, by, command, verdicts: countsText(counts) },
        'not reached': absent.map(({ device }) => device.name).join(', '),
      })),
    ),
    ...section('Pending', ['since', 'device', 'change', 'state', 'run'], pending),
    ...section(
      'Changes not made by a run of this devsh',
      ['after', 'before', 'device', 'what', 'by'],
      folded,
      'None that the readings below show.',
    ),
    ...section(
      'Coverage: readings, and the longest time without one',
      ['device', 'resource', 'readings', 'gapFrom', 'gapTo'],
      coverage,
    ),
    ...section('Clocks of the devices', ['device', 'clock', 'measured'], incident.clocks),
  ];
  return [`${lines.join('\n')}\n`, ...runs.map((run) => markdownReport(run, 2))].join('\n');
}

/** A section of the document. Rows that differ only in their device become one row. */
function section(title: string, columns: readonly string[], rows: Rows, none = 'None.'): string[] {
  const cell = (row: DeviceRecord, column: string): string => valueText(row[column]);
  const others = columns.filter((column) => column !== 'device');
  const groups = grouped(rows, (row) => JSON.stringify(others.map((column) => cell(row, column))));
  const cells = [...groups.values()].map((same) =>
    columns.map((column) => inline([...new Set(same.map((row) => cell(row, column)))].join(', '))),
  );
  const heads = columns.map((column) => column.replace(/(?=[A-Z])/g, ' ').toLowerCase());
  return ['', `## ${title}`, '', ...(rows.length === 0 ? [none] : table(heads, cells))];
}

/** The runs that were active in the period, and why others cannot be read. */
async function runsIn({ shell: { services } }: Call, { since, until }: Period) {
  const { runs, unreadable } = await runsSince(services, since);
  const isIn = (run: Run): boolean => Date.parse(run.at) <= until && lastActivity(run) >= since;
  // The order of runs does not depend on the clock: a run between two runs of the period belongs to it, too.
  const own = runs.slice(Math.max(0, runs.findIndex(isIn)), runs.findLastIndex(isIn) + 1);
  return { runs: own.map((run) => reportOf(withContinued(run, own))), unreadable };
}

/** Reads the histories of the devices in the inventory, the runs and this session. Adds to `unread`. */
async function historiesOfAll(call: Call, runs: readonly Run[], since: number, unread: string[]) {
  const { shell } = call;
  const { devices } = await shell.services.inventory.load();
  const past = await pastOf(call);
  const planned = runs.flatMap(({ plan }) => plan.devices.map(({ device }) => device));
  const all = [...devices, ...shell.fleet.connected.map(({ ref }) => ref), ...planned];
  return [...new Set(all.map(({ name }) => name))].flatMap((name): DeviceHistory[] => {
    try {
      const history = past.of(name, since);
      if (history.damage !== undefined) unread.push(`the history has gaps: ${history.damage}`);
      return [history];
    } catch (error) {
      unread.push(`${name}: ${expectedError(error).message}`);
      return [];
    }
  });
}

/** A time later than all runs. Its text sorts behind theirs, too. */
const FAR = Date.UTC(9999, 0);

/** The changes that were pending at some time in the period, with their state at its end. */
async function pendingDuring({ shell: { services } }: Call, { since, until }: Period) {
  const before = await readPending(services, isoText(since - 1));
  const then = await readPending(services, isoText(Math.min(until, FAR)));
  const idOf = ({ run, device, action, resource, key }: Pending): string =>
    JSON.stringify([run.run, device.address, action, resource, key]);
  const wereClosed = new Set(before.closed.map(({ pending }) => idOf(pending)));
  const row = (pending: Pending, state: string) => ({
    since: pending.run.at,
    device: pending.device.name,
    change: changeText(pending),
    state,
    run: pending.run.run,
  });
  const closed = then.closed.filter(({ pending }) => !wereClosed.has(idOf(pending)));
  const rows = [
    ...then.open.map((one) => row(one, one.cause)),
    ...closed.map((one) => row(one.pending, textOf(one.closed ?? ''))),
  ].sort((a, b) => (a.run < b.run ? -1 : a.run > b.run ? 1 : 0));
  return { rows, unreadable: then.unreadable };
}

/** The clock of a device at its last reading before `until`. */
function clockOf({ device, periods }: DeviceHistory, until: number) {
  const period = periods.findLast(({ begin }) => begin <= until);
  const readings = [...(period?.resources.values() ?? [])].flat();
  const last = readings
    .filter(({ clock, to }) => clock !== undefined && to <= until)
    .reduce<(typeof readings)[number] | undefined>((a, b) => (a && a.to > b.to ? a : b), undefined);
  if (last?.clock === undefined) return { device, clock: 'not measured' };
  const { clock: aheadMs, to } = last;
  return { device, clock: offsetText(aheadMs), aheadMs, measured: secondText(to) };
}

/** The time without fractions of a second, so that devices that were read together share a row. */
function secondText(time: number): string {
  return isoText(time).replace(/\.\d+Z$/, 'Z');
}

/** The longest time between the ends of two readings. */
function longestGap(readings: readonly Moment[]): Moment | undefined {
  const gaps = readings.slice(1).map(({ to }, at) => ({ from: readings[at]?.to ?? to, to }));
  return gaps.toSorted((a, b) => b.to - b.from - (a.to - a.from))[0];
}
