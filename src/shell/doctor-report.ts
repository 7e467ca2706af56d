import { arch, platform, release } from 'node:os';
import { resultsOf } from '../change/run-results.ts';
import { environmentProxy } from '../device/route/route.ts';
import { unlessBroken } from '../errors.ts';
import { writeNewText } from '../os/files.ts';
import { SETTING_ROWS } from '../settings/settings-table.ts';
import { type Finding, hasUnicode, isOwn } from './doctor.ts';
import type { Services } from './services.ts';
import { latestRun } from './writing/stored-runs.ts';

/**
 * Writes the report of `doctor --report`: JSON that only the user can read, for a bug report. Every text in it
 * comes from devsh or Node, or is a choice that devsh offers: names and addresses of devices, accounts, paths
 * and texts of devices have no place in it. Throws a `RefusedError` if the path exists.
 */
export async function writeReport(
  services: Services,
  path: string,
  given: Readonly<Record<string, unknown>>,
  findings: readonly Finding[],
): Promise<void> {
  const report = {
    schema: 'devsh-doctor/1',
    at: services.now().toISOString(),
    versions: { devsh: services.version, ...versionsOfNode() },
    platform: { system: platform(), release: release(), arch: arch() },
    terminal: await terminalFacts(services),
    settings: await settingRows(services, given),
    counts: await countsIn(services),
    ...checksIn(findings),
    lastRun: await lastRun(services),
  };
  await writeNewText(path, `${JSON.stringify(report, null, 2)}\n`);
}

function versionsOfNode(): Record<string, string | undefined> {
  const { node, v8, openssl } = process.versions;
  return { node, v8, openssl };
}

async function terminalFacts({ stdout, env }: Services): Promise<object> {
  const { isTTY = false, columns, rows } = stdout;
  const proxy = await unlessBroken(
    Promise.resolve().then(() => environmentProxy(env)?.variable ?? 'none'),
    'not usable',
  );
  return { isTTY, columns, rows, isUnicode: hasUnicode(env), proxy };
}

/** The value only of numbers, switches and choices. */
async function settingRows(
  { settings }: Services,
  given: Readonly<Record<string, unknown>>,
): Promise<object[]> {
  const { choicesOf } = await import('../settings/settings-schema.ts');
  return SETTING_ROWS.map(([name, { hasOption }]) => {
    const option = hasOption && given[name];
    const value = option || settings.get(name);
    const origin = settings.origin(name);
    const isPlain =
      ['number', 'boolean'].includes(typeof value) ||
      choicesOf(name).some((choice) => choice === value);
    return {
      setting: name,
      origin: option ? 'option' : origin.kind,
      ...(!option && origin.kind === 'environment' && { variable: origin.variable }),
      ...(isPlain && { value }),
    };
  });
}

/** A count is null if its file cannot be read. */
async function countsIn(services: Services): Promise<object> {
  const { inventory, knownDevices, runs, history, vault } = services;
  const loaded = await unlessBroken(inventory.load(), undefined);
  const count = (work: Promise<readonly unknown[]>): Promise<number | null> =>
    unlessBroken(
      work.then(({ length }) => length),
      null,
    );
  return {
    devices: loaded?.devices.length ?? null,
    groups: loaded?.groups().length ?? null,
    pins: await count(knownDevices.all()),
    runs: await count(runs.ids()),
    historyLines: await count(history.load()),
    hasVault: await unlessBroken(vault.exists(), null),
  };
}

/** The states of the own checks, and how many devices had each state and error. */
function checksIn(findings: readonly Finding[]): object {
  const own = findings.filter(isOwn);
  const devices: Record<string, number> = {};
  for (const { what, state, error } of findings.filter((finding) => !isOwn(finding))) {
    const name = `${what}: ${error?.code ?? state}`;
    devices[name] = (devices[name] ?? 0) + 1;
  }
  return {
    checks: own.map(({ area, what, state, error }) => ({ area, what, state, error: error?.code })),
    devices,
  };
}

/** How often each verdict and error code occurred in the latest run; null if there is none that can be read. */
async function lastRun(services: Services): Promise<object | null> {
  const run = await unlessBroken(latestRun(services), null);
  if (run === null) return null;
  const counts: Record<string, number> = {};
  for (const { verdict, error } of resultsOf(run)) {
    const name = error === undefined ? verdict : `${verdict}: ${error.code}`;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return { at: run.at, counts };
}
