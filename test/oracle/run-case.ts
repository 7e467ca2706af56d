import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Case, Line } from './cases.ts';
import { Judge, type Execution } from './judge.ts';
import { DEVICE_NAMES, openModelFleet, type ModelFleet } from './model-fleet.ts';

/** Counts what was tried, because a run that tries nothing proves nothing. */
export const seen = { lines: 0, sent: 0, refused: 0, undone: 0, absent: 0 };

/** A device may take a field that no record shows. */
const HIDDEN_TOO = ['--allow', 'invalid'];

async function wordsOf(line: Line, folder: string): Promise<string[]> {
  const pairs = (typed: Readonly<Record<string, string>>): string[] =>
    Object.entries(typed).map(([field, value]) => `${field}=${value}`);
  switch (line.kind) {
    case 'add':
      return ['user', 'add', `username=${line.key}`, ...pairs(line.typed), ...HIDDEN_TOO];
    case 'set':
      return ['user', 'set', line.key, ...pairs(line.typed), ...HIDDEN_TOO];
    case 'set where':
      return ['user', 'set', '--where', `lang=${line.lang}`, ...pairs(line.typed), ...HIDDEN_TOO];
    case 'delete':
      return ['user', 'delete', line.key];
    case 'import': {
      const rows = line.rows.map(({ key, values }) => ({ username: key, ...values }));
      const file = join(folder, 'users.json');
      await writeFile(file, JSON.stringify(rows));
      return ['import', file, 'user', ...(line.isPruning ? ['--prune'] : [])];
    }
    case 'undo':
      return ['undo'];
    case 'read':
      return line.words.split(' ');
  }
}

/** Runs the lines of one case and returns the faults of the first bad line. */
export async function faultsOf(given: Case): Promise<string[]> {
  const fleet = await openModelFleet(given.model, given.devices, given.isConfigured);
  try {
    const judge = new Judge(given.model);
    for (const line of given.lines) {
      const execution = await execute(given, line, fleet);
      count(execution);
      const faults = judge.judge(execution);
      if (faults.length > 0) return report(given, line, execution, faults);
    }
    return [];
  } finally {
    await fleet.close();
  }
}

async function execute(
  given: Case,
  line: Line,
  { devsh, devices, isAbsent }: ModelFleet,
): Promise<Execution> {
  const words = await wordsOf(line, devsh.folder);
  const options = [
    '--on',
    '@lab',
    '--timeout',
    '2',
    ...(given.allowsLoss && line.kind !== 'read' ? ['--allow', 'loss,prune'] : []),
  ];
  const before = devices.map(({ held }) => held);
  const wasAbsent = devices.map(isAbsent);
  for (const device of devices) device.writes.length = 0;
  const isReading = line.kind === 'read';
  // No device lists the login of devsh.
  const how = isReading ? [] : ['--allow', 'unlisted-login'];
  const plan = await devsh([...words, ...options, ...how, ...(isReading ? [] : ['--dry-run'])]);
  const hadReported = devices.map(({ hasTold }) => hasTold);
  const isTouched = devices.some(({ writes }) => writes.length > 0);
  const real = isReading
    ? plan
    : isTouched
      ? { stdout: '', stderr: 'the dry run has written', exitCode: 70 }
      : await devsh([...words, ...options, ...how, '--yes', ...(given.isJson ? ['--json'] : [])]);
  return {
    line,
    plan,
    real,
    isJson: given.isJson,
    devices: devices.map((device, index) => ({
      name: DEVICE_NAMES[index] ?? '',
      isAbsent: wasAbsent[index] ?? false,
      hasTold: hadReported[index] ?? false,
      isLost: wasAbsent[index] === false && isAbsent(device),
      before: before[index] ?? new Map(),
      after: device.held,
      writes: [...device.writes],
      shown: (id, record) => device.shown(id, record),
    })),
  };
}

function count({ devices, real, line }: Execution): void {
  seen.lines += 1;
  if (devices.some(({ writes }) => writes.length > 0)) seen.sent += 1;
  if (real.exitCode === 6) seen.refused += 1;
  if (line.kind === 'undo' && devices.some(({ writes }) => writes.length > 0)) seen.undone += 1;
  if (devices.some(({ isAbsent }) => isAbsent)) seen.absent += 1;
}

/** Everything needed to reproduce it by hand. */
function report(given: Case, line: Line, execution: Execution, faults: string[]): string[] {
  const { plan, real, devices } = execution;
  const writes = devices.flatMap(({ name, writes: all }) =>
    all.map(({ method, path, body }) => `${name} <- ${method} ${path} ${body}`),
  );
  const { way, leftOut, tells, fields } = given.model;
  const shape = fields.map(({ name, kind, access }) => `${name} (${access} ${kind})`).join(', ');
  return [
    ...faults.map((fault) => `WRONG ${fault}`),
    `line ${JSON.stringify(line)} of ${JSON.stringify(given.lines)}`,
    `device ${way}, left out: ${leftOut}, tells ${tells}; ${shape}`,
    ...given.devices.map(({ presence, records }) => `${presence} ${JSON.stringify(records)}`),
    `plan ${plan.exitCode}: ${plan.stdout}${plan.stderr}`,
    `real ${real.exitCode}: ${real.stdout}${real.stderr}`,
    ...writes,
  ];
}
