import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Verdict } from '../../src/change/verdict.ts';
import { type FaultName, FAULTS, type FaultScope } from '../simulator/faults.ts';
import type { Fault } from '../simulator/faults/fault.ts';
import { startSimulator, type SimulatedDevice } from '../simulator/simulator.ts';
import { ADMIN, makeDevsh, trust, writesOf } from '../main/devsh.ts';

/** What devsh does. `read back`: an add, and the fault strikes only the read-back. */
export const OPERATIONS = ['list', 'add', 'set', 'delete', 'read back'] as const;
export type Operation = (typeof OPERATIONS)[number];

/** The time limit for one response: long enough for a busy machine. */
const LIMIT_MS = 15_000;
/** The same if only the limit ends the wait. */
const SHORT_LIMIT_MS = 2000;

/** Responses that stall. */
export const STALLED: readonly FaultName[] = [
  'handshake-stall',
  'silence',
  'headers-stall',
  'slow-headers',
  'endless-hints',
  'slow-body',
  'stalled-body',
  'long-length',
  'chunk-extensions',
];
const WAITING: readonly FaultName[] = [...STALLED, 'endless-body', 'endless-gzip'];

const LINES: Readonly<Record<Operation, string>> = {
  list: 'user list',
  add: 'user add username=zoe lang=de first_name=Zoe lastname=Zett',
  set: 'user set ann lang=de first_name=Anne',
  delete: 'user delete ann',
  'read back': 'user add username=zoe lang=de first_name=Zoe lastname=Zett',
};

/** One run of the whole program against one faulty device. */
export interface Outcome {
  /** A verdict, or the code of a failed list; `listed` without an error. */
  readonly end: Verdict | 'listed' | (string & {});
  readonly exitCode: number;
  /** Requests other than GET. */
  readonly writes: number;
  /** Whether the device has the intended state; undefined for a list. */
  readonly isApplied: boolean | undefined;
  readonly stdout: string;
  readonly stderr: string;
  readonly elapsedMs: number;
}

export function faultNamed(name: FaultName): Fault {
  const fault = FAULTS.find((one) => one.name === name);
  if (fault === undefined) throw new RangeError(name);
  return fault;
}

/** Whether a fault can strike this operation. */
export function isPossible(name: FaultName, door: Operation): boolean {
  const { stage, methods } = faultNamed(name);
  if (door === 'list') return methods?.includes('GET') ?? true;
  if (door === 'read back') return stage !== 'connection' && (methods?.includes('GET') ?? true);
  return methods === undefined || methods.includes('GET') || methods.includes(methodOf(door));
}

function methodOf(door: Operation): 'GET' | 'POST' | 'DELETE' {
  if (door === 'list') return 'GET';
  return door === 'delete' ? 'DELETE' : 'POST';
}

/** List faults strike every list; the others strike only the request of the operation. */
function scopeOf({ stage, methods }: Fault, door: Operation): FaultScope {
  if (stage === 'connection') return {};
  if (door === 'read back') return { method: 'GET', afterWrite: true };
  const isOfLists = stage === 'list' || methods?.every((method) => method === 'GET') === true;
  return { method: isOfLists ? 'GET' : methodOf(door) };
}

export async function runCell(
  name: FaultName,
  door: Operation,
  format = '--json',
): Promise<Outcome> {
  const ends: (() => Promise<void>)[] = [];
  try {
    return await runOn(name, door, format, (end) => ends.push(end));
  } finally {
    for (const end of ends) await end();
  }
}

async function runOn(
  name: FaultName,
  door: Operation,
  format: string,
  atEnd: (end: () => Promise<void>) => void,
): Promise<Outcome> {
  const simulator = await startSimulator({ users: 6 });
  atEnd(() => simulator.close());
  const [device] = simulator.devices;
  if (device === undefined) throw new Error('no device');
  device.putUser({ username: 'ann', lang: 'fr', first_name: 'Ann', lastname: 'Ä. Example' });
  const devsh = await makeDevsh(ADMIN, atEnd);
  const fault = faultNamed(name);
  // Before the fault, which may change the certificate.
  const { address, fingerprint } = device;
  device.setFault(name, true, scopeOf(fault, door));
  const authority = await trustOptions(fault, device, devsh.folder);
  // A pin would override the CA.
  if (authority.length === 0) await trust(devsh, [{ address, fingerprint }]);

  const limitMs = WAITING.includes(name) ? SHORT_LIMIT_MS : LIMIT_MS;
  const line = [...LINES[door].split(' '), '--on', address, '--timeout', String(limitMs / 1000)];
  const write = door === 'list' ? [] : ['--yes'];
  const from = performance.now();
  const run = await devsh([...line, ...write, ...authority, format].filter((word) => word !== ''));
  const elapsedMs = performance.now() - from;
  return {
    ...run,
    end: format === '--json' ? endOf(run) : '',
    writes: writesOf(device).length,
    isApplied: isApplied(device, door),
    elapsedMs,
  };
}

/** Only a CA, not a pin, checks the dates and names of a certificate. */
async function trustOptions(
  fault: Fault,
  device: SimulatedDevice,
  folder: string,
): Promise<string[]> {
  const isChecked = fault.stage === 'connection' && Object.keys(fault.certificate ?? {}).length > 0;
  if (!isChecked) return [];
  const file = join(folder, 'ca.pem');
  await writeFile(file, device.certificate);
  return ['--ca', file];
}

interface Document {
  readonly results?: readonly { verdict: string }[];
  readonly devices?: readonly { error?: { code: string } }[];
  readonly error?: { code: string };
}

function endOf({ stdout, stderr }: Pick<Outcome, 'stdout' | 'stderr'>): string {
  if (stdout === '') throw new Error(`no document: ${stderr}`);
  const document = JSON.parse(stdout) as Document;
  const code = document.error?.code ?? document.devices?.[0]?.error?.code;
  return code ?? document.results?.[0]?.verdict ?? 'listed';
}

function isApplied({ users }: SimulatedDevice, door: Operation): boolean | undefined {
  const named = (name: string) => users.filter(({ username }) => username === name);
  const [ann] = named('ann');
  switch (door) {
    case 'list':
      return undefined;
    case 'add':
    case 'read back':
      return named('zoe').some(({ lang, first_name }) => lang === 'de' && first_name === 'Zoe');
    case 'set':
      return ann?.lang === 'de' && ann.first_name === 'Anne';
    case 'delete':
      return ann === undefined;
  }
}
