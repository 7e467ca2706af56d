import { doubtsText, pinnedText } from '../settings/known-devices.ts';
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { release } from 'node:os';
import { dirname } from 'node:path';
import { CredentialError, DevshError, expectedError, UsageError } from '../errors.ts';
import type { Call } from './command.ts';
import type { HistoryFiles } from '../history/history-files.ts';
import { damageText } from '../history/history.ts';
import type { Services } from './services.ts';
import { environmentProxy, noProxyOf } from '../device/route/route.ts';
import { errorCode, fileError, readBytes } from '../os/files.ts';
import { replay } from '../history/replay.ts';
import { offsetText } from './past/coverage.ts';
import { expiryText } from './access/certificates.ts';
import { loadRun } from './writing/stored-runs.ts';
import type { ClockOffset } from '../device/client.ts';
import { UnauthorizedError } from '../device/errors.ts';
import { fanOut } from '../fleet/fan-out.ts';
import type { DeviceSession } from '../fleet/device-session.ts';
import { counted, someOf } from '../text/one-line.ts';

/** One check of `doctor`. It contains no secret, so that it can go into a bug report. */
export interface Finding {
  /** `machine`, `files`, `credentials`, or the name of a device. */
  readonly area: string;
  readonly what: string;
  readonly state: 'ok' | 'warning' | 'failed' | 'not used';
  readonly detail: string;
  /** The cause of the failure, which decides the exit status. */
  readonly error?: DevshError | undefined;
}

function finding(
  area: string,
  what: string,
  state: Finding['state'],
  detail: string,
  error?: DevshError,
): Finding {
  return { area, what, state, detail, error };
}

const OWN_AREAS = ['machine', 'files', 'credentials'];

/** Whether a check is about this machine, not about a device. */
export function isOwn({ area }: Finding): boolean {
  return OWN_AREAS.includes(area);
}

export async function* allFindings(call: Call<'on'>): AsyncGenerator<Finding> {
  const { services, fleet } = call.shell;
  yield* machineFindings(services);
  yield* fileFindings(services, await call.shell.readings());
  yield* keychainFindings(call);
  const named = [...call.args.all('TARGET'), ...call.options.on];
  const sessions = named.length > 0 ? await call.resolve(named) : fleet.selection;
  const look = async (session: DeviceSession, emit: (finding: Finding) => void): Promise<void> => {
    for await (const one of findingsOf(call, session)) emit(one);
  };
  yield* fanOut(sessions, call.readWidth, look, call.io.signal);
}

function* machineFindings(services: Services): Generator<Finding> {
  const { env, stdout, version } = services;
  const is = (what: string, state: Finding['state'], detail: string): Finding =>
    finding('machine', what, state, detail);
  yield is('devsh', 'ok', version);
  const system = `${process.platform} ${release()} (${process.arch})`;
  yield is('node', 'ok', `v${process.versions.node} on ${system}`);
  yield is('terminal', ...terminalState(stdout, env['TERM'] ?? 'unknown'));
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || '';
  yield /utf-?8/i.test(locale)
    ? is('locale', 'ok', locale)
    : is(
        'locale',
        'warning',
        `${locale || 'not set'}: without UTF-8 non-ASCII letters may look wrong`,
      );
  yield is('proxy', ...proxyState(env));
}

/** The proxy of the environment, or what is wrong with it. */
export function proxyState(env: NodeJS.ProcessEnv): [Finding['state'], string] {
  try {
    const asked = environmentProxy(env);
    if (asked === undefined) return ['not used', 'no proxy in the environment'];
    const noProxy = noProxyOf(env);
    const but = noProxy === '' ? '' : `, not for ${noProxy}`;
    return ['ok', `${asked.proxy.url} by ${asked.variable}${but}`];
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return ['failed', error.message];
  }
}

function terminalState(stdout: Services['stdout'], type: string): [Finding['state'], string] {
  if (stdout.isTTY !== true) return ['not used', 'stdout is a file or a pipe'];
  const [columns, rows] = [stdout.columns || 80, stdout.rows || 24];
  const size = `${type}, ${columns} x ${rows}`;
  if (type === 'dumb') return ['ok', `${size}: line by line`];
  return columns < 40 || rows < 10
    ? ['warning', `${size}: the full screen needs 40 x 10`]
    : ['ok', size];
}

/** The folders and files of devsh: whether they are usable, private and intact. */
async function* fileFindings(services: Services, readings: HistoryFiles): AsyncGenerator<Finding> {
  const { paths, inventory, knownDevices, history, runs, vault } = services;
  for (const [name, path] of Object.entries<string>({ ...paths })) {
    const { state, problem } = await checkFolder(path);
    const usable = state === 'absent' ? `${path}: devsh creates it when needed` : path;
    yield state === 'not usable'
      ? finding('files', `folder ${name}`, 'failed', problem)
      : finding('files', `folder ${name}`, 'ok', usable);
  }
  yield await fileFinding('settings', services.settings.path, async () => {
    // One-shot commands use no keys, but the next full screen must find valid ones.
    if (services.settings.get('aliases') !== undefined) await services.keys();
    return 'valid';
  });
  yield await fileFinding('inventory', inventory.path, async () => {
    const { devices } = await inventory.load();
    return counted(devices.length, 'device');
  });
  yield await fileFinding('pins', knownDevices.path, async () => {
    const { pins } = await knownDevices.pinFile();
    const doubts = await doubtsText(knownDevices);
    return { detail: counted(pins.size, 'pin'), warning: doubts };
  });
  yield await fileFinding('history', history.path, async () =>
    counted((await history.load()).length, 'line'),
  );
  yield await fileFinding('readings', readings.folder, async () => {
    const sizes = await readings.sizes();
    const bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0);
    const damaged: string[] = [];
    for (const path of sizes.keys()) {
      const lines = replay((await readBytes(path))?.toString('utf8') ?? '').damaged;
      if (lines > 0) damaged.push(damageText(path, lines));
    }
    const { days, megabytes } = services.historyLimits;
    const limit = days === 0 ? 'nothing more is kept' : `at most ${days} days and ${megabytes} MB`;
    const detail = `${counted(sizes.size, 'device')}, ${(bytes / 1_000_000).toFixed(1)} MB; ${limit}`;
    return { detail, warning: damaged.length > 0 ? someOf(damaged) : undefined };
  });
  yield await fileFinding('runs', runs.folder, async () => {
    const ids = await runs.ids();
    const broken: string[] = [];
    for (const id of ids) {
      const run = await loadRun(services, id).catch(expectedError);
      if (run instanceof DevshError) broken.push(run.message);
    }
    return { detail: counted(ids.length, 'run'), warning: broken[0] };
  });
  yield await fileFinding('vault', vault.path, () => Promise.resolve('there is a vault'));
}

type Held = string | { readonly detail: string; readonly warning: string | undefined };

async function fileFinding(
  what: string,
  path: string,
  read: () => Promise<Held>,
): Promise<Finding> {
  const check = await checkFile(path);
  if (check.state === 'absent') return finding('files', what, 'not used', `no ${path}`);
  const held = await read().catch(expectedError);
  if (held instanceof DevshError) return finding('files', what, 'failed', held.message, held);
  const { detail, warning } = typeof held === 'string' ? { detail: held } : held;
  const problem = warning ?? check.problem;
  return problem === ''
    ? finding('files', what, 'ok', `${path}: ${detail}`)
    : finding('files', what, 'warning', problem);
}

/** The state of a file or folder of devsh, before it is read. */
interface FileCheck {
  readonly state: 'absent' | 'fine' | 'open to others' | 'not usable';
  /** Empty if it is absent or fine. */
  readonly problem: string;
}

/** Checks whether and by whom a file or folder can be used; creates nothing. */
async function checkFile(path: string): Promise<FileCheck> {
  try {
    const found = await stat(path);
    await access(path, constants.R_OK | constants.W_OK);
    const isOpen = process.platform !== 'win32' && (found.mode & 0o077) !== 0;
    if (!isOpen) return { state: 'fine', problem: '' };
    const mode = (found.mode & 0o777).toString(8).padStart(4, '0');
    const problem = `${path} can be read by others (mode ${mode}); chmod go= ${path}`;
    return { state: 'open to others', problem };
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return { state: 'absent', problem: '' };
    return { state: 'not usable', problem: fileError('use', path, error).message };
  }
}

/** Checks whether a folder can be written to or created: the nearest existing one decides. */
async function checkFolder(path: string): Promise<FileCheck> {
  const check = await checkFile(path);
  if (check.state !== 'absent' || dirname(path) === path) return check;
  const above = await checkFolder(dirname(path));
  return above.state === 'not usable' ? above : check;
}

async function* keychainFindings(call: Call): AsyncGenerator<Finding> {
  const { credentials } = call;
  const isThere = await credentials.reachesKeychain();
  const [problem = 'none on this machine'] = credentials.problems;
  const state = isThere ? 'ok' : credentials.problems.length > 0 ? 'warning' : 'not used';
  yield finding('credentials', 'keychain', state, isThere ? 'works' : problem);
  const place = await credentials.placeToStore();
  const kept = place === undefined ? 'nothing; "vault init" creates a vault' : `the ${place}`;
  const isKept = place === undefined ? 'not used' : 'ok';
  yield finding('credentials', 'logins are kept in', isKept, kept);
}

/** A larger difference makes logs, certificates and tokens unreliable. */
const MOST_OFF_MS = 60_000;
const SOON_MS = 30 * 86_400_000;

/** Checks reachability, certificate, login and clock of a device with one GET. */
async function* findingsOf(call: Call, session: DeviceSession): AsyncGenerator<Finding> {
  const area = session.ref.name;
  const { breakGlass = [] } = session.entry;
  if (breakGlass.length > 0)
    yield finding(area, 'break-glass accounts', 'ok', breakGlass.join(', '));
  try {
    const [response, offset] = await session.use(call.access, async (device) => {
      const path = device.profile.basePath;
      const response = await device.raw({ method: 'GET', path }, call.io.signal);
      // Thrown in here, so that a refused password is sent to no other device.
      if (response.status === 401) {
        const advice = `try "login ${area}"`;
        throw new UnauthorizedError(session.ref, `the login was refused; ${advice}`, 401);
      }
      return [response, device.clockOffset] as const;
    });
    yield finding(area, 'answers', 'ok', `${Math.round(response.latencyMs)} ms`);
    yield await certificateFinding(call, session);
    const other = session.credential === undefined ? 'nobody' : 'the owner of the token';
    yield finding(area, 'login', 'ok', `as ${session.account ?? other}`);
    yield clockFinding(area, offset);
  } catch (error) {
    if (!(error instanceof DevshError) || error.code === 'cancelled') throw error;
    const isLogin = error instanceof UnauthorizedError || error instanceof CredentialError;
    yield finding(area, isLogin ? 'login' : 'answers', 'failed', error.message, error);
  }
}

async function certificateFinding(call: Call, { ref, trust }: DeviceSession): Promise<Finding> {
  const is = (state: Finding['state'], detail: string): Finding =>
    finding(ref.name, 'certificate', state, detail);
  if (trust?.kind === 'insecure') return is('warning', 'NOT CHECKED');
  if (trust?.kind === 'ca') return is('ok', `by the CA in ${trust.file}`);
  if (trust?.kind !== 'pinned') return is('ok', 'by a CA of the system');
  const { services } = call.shell;
  const now = services.now();
  const validTo = (await services.knownDevices.find(ref.address))?.validTo;
  const pinned = `pinned ${pinnedText({ firstSeen: trust.pinnedAt })}`;
  if (validTo === undefined) return is('ok', pinned);
  const ends = expiryText(validTo, now);
  const isSoon = Date.parse(validTo) - now.getTime() < SOON_MS;
  return is(isSoon ? 'warning' : 'ok', `${pinned}, ends ${ends}`);
}

function clockFinding(area: string, offset: ClockOffset | undefined): Finding {
  if (offset === undefined) {
    return finding(area, 'clock', 'not used', 'the device reports no time');
  }
  const [least, most] = offset;
  const isOff = least > MOST_OFF_MS || most < -MOST_OFF_MS;
  return finding(area, 'clock', isOff ? 'warning' : 'ok', offsetText(offset));
}
