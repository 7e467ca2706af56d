import { unlessFailed } from '../../errors.ts';
import { join } from 'node:path';
import { quoteWord } from '../../text/words.ts';
import { labelsOf, type ShellSession } from '../session.ts';
import type { Call } from '../command.ts';
import type { Services } from '../services.ts';
import { shortTime } from '../../text/time.ts';
import { readText, writeTextAtomically } from '../../os/files.ts';
import { counted } from '../../text/one-line.ts';

export interface FirstStep {
  readonly line: string;
  readonly summary: string;
  /** The start of the line, if its end is an example. */
  readonly start?: string;
}

/** The user chooses a step by its digit. */
const MOST_STEPS = 9;

/** The first lines for a user without any set-up. */
export const FIRST_STEPS: readonly FirstStep[] = [
  { line: 'demo', summary: 'three simulated devices on this machine' },
  { line: 'connect 10.0.0.5', start: 'connect ', summary: 'a device; several with spaces between' },
  { line: 'device import devices.csv', start: 'device import ', summary: 'from CSV or Ansible' },
  { line: 'device add fw1 10.0.0.5', start: 'device add ', summary: 'a device for the inventory' },
  { line: 'help', summary: 'all commands' },
];

/** Whether nothing is set up yet: no device in the inventory, none pinned, no line in the history. */
export async function isFirstRun({ services, fleet }: ShellSession): Promise<boolean> {
  if (fleet.known.length > 0) return false;
  const { inventory, knownDevices, history } = services;
  // A file that cannot be read shows that devsh was used before.
  const all = Promise.all([inventory.load(), knownDevices.pinFile(), history.load()]);
  const [held, pinned, lines] = (await unlessFailed(all)) ?? [];
  return held?.devices.length === 0 && pinned?.pins.size === 0 && lines?.length === 0;
}

/** Steps to offer while nothing is connected: pending runs, the last devices, groups. Empty if a file is unreadable. */
export async function nextSteps({ services, fleet }: ShellSession): Promise<readonly FirstStep[]> {
  if (fleet.connected.length > 0) return [];
  const all = Promise.all([pendingSteps(services), lastSession(services), groupSteps(services)]);
  const steps = ((await unlessFailed(all)) ?? []).flat();
  const lines = steps.map(({ line }) => line);
  return steps.filter(({ line }, at) => lines.indexOf(line) === at).slice(0, MOST_STEPS);
}

async function pendingSteps(services: Services): Promise<FirstStep[]> {
  if ((await services.runs.ids()).length === 0) return [];
  const { pendingSummary } = await import('../writing/pending.ts');
  const summary = await pendingSummary(services);
  return summary === undefined ? [] : [{ line: 'resume', summary }];
}

/** The lines that connected to devices in the last session, as typed. The file begins with the time of the last one. */
async function lastSession(services: Services): Promise<FirstStep[]> {
  const text = await readText(sessionPath(services));
  const [at = '', ...lines] = (text ?? '').split('\n').filter((line) => line !== '');
  const when = new Date(at);
  if (Number.isNaN(when.getTime())) return [];
  const summary = `as in the last session, ${shortTime(when, services.now())}`;
  return lines.filter((line) => /^connect\s/.test(line)).map((line) => ({ line, summary }));
}

/** Keeps a line that connected to new devices: the next session offers it. */
export async function keepForNextSession({ line, shell }: Call): Promise<void> {
  // A masked value, or one from a pipe, cannot be typed again.
  if (/•|-stdin\b/.test(line)) return;
  // `--plain` is about the terminal, not about the devices.
  shell.connectLines.push(line.replace(/ --plain\b/, ''));
  const { services } = shell;
  const lines = [services.now().toISOString(), ...shell.connectLines, ''];
  // A failure (a full disk) costs only an offer of the next session.
  await unlessFailed(writeTextAtomically(sessionPath(services), lines.join('\n')));
}

function sessionPath({ paths }: Services): string {
  return join(paths.state, 'last-session');
}

async function groupSteps({ inventory }: Services): Promise<FirstStep[]> {
  const loaded = await inventory.load();
  const { devices } = loaded;
  const steps = loaded.groups().map((group): FirstStep => {
    const members = devices.filter(({ groups }) =>
      groups.some((one) => one.toLowerCase() === group.toLowerCase()),
    );
    const { texts } = labelsOf(members);
    const count = counted(members.length, 'device');
    return { line: `connect ${quoteWord(`@${group}`)}`, summary: [count, ...texts].join(' · ') };
  });
  if (devices.length < 2) return steps;
  return [...steps, { line: 'connect @all', summary: `all ${devices.length} of the inventory` }];
}

/** The first steps as lines: `  demo    three simulated devices …`. */
export function firstStepLines(inventory: string): string[] {
  return [
    'Nothing is set up yet. Type one of these:',
    ...stepLines(FIRST_STEPS),
    `Your inventory is ${inventory}.`,
  ];
}

export function nextStepLines(steps: readonly FirstStep[]): string[] {
  return steps.length === 0 ? [] : ['To continue, type one of these:', ...stepLines(steps)];
}

function stepLines(steps: readonly FirstStep[]): string[] {
  const width = Math.max(...steps.map(({ line }) => line.length));
  return steps.map(({ line, summary }) => `  ${line.padEnd(width)}   ${summary}`);
}
