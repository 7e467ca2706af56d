import { createHash, randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { keyFieldOf } from '../../device/profile.ts';
import { type DeviceRecord, type JsonValue, jsonText } from '../../device/record.ts';
import { CancelledError, DevshError, RefusedError, UsageError } from '../../errors.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import { fanOut } from '../../fleet/fan-out.ts';
import { Keeper } from '../../history/kept.ts';
import { pinOf, redactorFor } from '../../history/observer.ts';
import { fileError, makePrivateFolder, writeNewText } from '../../os/files.ts';
import { zoneText } from '../../text/time.ts';
import type { Call } from '../command.ts';
import { type Output, table } from '../output.ts';
import { fileNames } from './export-records.ts';

const SUMS = 'SHA256SUMS';
const MANIFEST = 'manifest.json';

/** What was read of one device. */
interface Evidence {
  readonly session: DeviceSession;
  readonly position: number;
  /** What the manifest says about each of its resources. */
  readonly resources: JsonValue[];
  /** Lines of `SHA256SUMS`. */
  readonly sums: string[];
  readonly errors: DevshError[];
  records: number;
}

/**
 * `export --evidence DIR`: every list that can be read, one file each, secrets masked. The manifest comes last: a
 * folder without it is of an export that did not end.
 */
export async function* exportEvidence(
  call: Call<'on' | 'output' | 'outputDir'>,
  folder: string,
): AsyncGenerator<Output> {
  const { shell, options, io } = call;
  if ((options.output ?? options.outputDir) !== undefined) {
    throw new UsageError('--evidence DIR names the only folder: leave out --output');
  }
  const named = [...call.args.all('RESOURCE'), ...call.args.all('FILTER')];
  const on = [...options.on, ...named];
  const sessions = on.length > 0 ? await call.resolve(on) : await call.sessions();
  await makePrivateFolder(folder);
  const inside = await readdir(folder).catch((error: unknown) => {
    throw fileError('read', folder, error);
  });
  if (inside.length > 0) {
    throw new RefusedError(
      `${folder} is not empty: --evidence needs a new folder; nothing was read`,
    );
  }
  const began = shell.services.now();
  const names = fileNames([SUMS, MANIFEST, ...sessions.map(({ ref }) => ref.name)]).slice(2);
  const devices: Evidence[] = [];
  const results = fanOut<Evidence, Evidence>(
    sessions.map((session, position) => ({
      ...{ session, position, resources: [], sums: [], errors: [], records: 0 },
    })),
    call.readWidth,
    async (evidence, emit) => {
      await readInto(evidence, call, folder, names[evidence.position] ?? '');
      emit(evidence);
    },
    io.signal,
  );
  for await (const evidence of results) {
    devices.push(evidence);
    const text = `reading every resource: ${evidence.session.ref.name}`;
    yield { kind: 'progress', done: devices.length, total: sessions.length, text };
  }
  if (devices.length < sessions.length) throw new CancelledError();
  devices.sort((a, b) => a.position - b.position);
  const manifest = documentText({
    ...{ by: shell.services.operator, version: shell.services.version, line: call.line },
    ...{ began: began.toISOString(), ended: shell.services.now().toISOString() },
    zone: zoneText(began),
    devices: devices.map(({ session, resources }) => ({
      device: session.ref.name,
      address: session.ref.address,
      // `verified`: by an authority.
      pin: pinOf(session) ?? 'not checked',
      resources,
    })),
  });
  const sums = [...devices.flatMap((one) => one.sums), sumLine(manifest, MANIFEST)];
  await writeNewText(join(folder, SUMS), sums.join(''));
  await writeNewText(join(folder, MANIFEST), manifest);
  for (const { session, errors } of devices) {
    for (const error of errors) yield { kind: 'error', error, device: session.ref };
  }
  const read = devices.filter((one) => one.sums.length > 0);
  const records = read.reduce((sum, one) => sum + one.records, 0);
  const row = { file: folder, records, devices: read.map(({ session }) => session.ref.name) };
  yield table('files', ['file', 'records', 'devices'], [row], { hasSuccess: read.length > 0 });
}

/** Reads what `resources` lists. */
async function readInto(evidence: Evidence, call: Call, folder: string, name: string) {
  const { session } = evidence;
  const { access, io, shell } = call;
  const now = (): string => shell.services.now().toISOString();
  const attempt = async <T>(work: () => Promise<T>): Promise<T | DevshError> => {
    try {
      // A device that does not answer is not asked for each resource.
      if (session.state.kind === 'failed' && evidence.errors.length > 0) throw session.state.error;
      return await work();
    } catch (error) {
      if (!(error instanceof DevshError) || error.code === 'cancelled') throw error;
      evidence.errors.push(error);
      return error;
    }
  };
  const resources = ['user'];
  for (const [index, resource] of resources.entries()) {
    const from = now();
    const records = await attempt(async () => {
      const list = await session.list(access, resource, io.signal);
      return session.inFull(access, resource, list, io.signal);
    });
    const times = { resource, from, to: now() };
    if (records instanceof DevshError) {
      evidence.resources.push({ ...times, error: errorData(records) });
    } else {
      const path = `${name}/${fileNames(resources)[index] ?? ''}.json`;
      const { name: device, address } = session.ref;
      const masked = maskedRecords(session, resource, records);
      const text = documentText({ device, address, ...times, records: masked });
      await writeNewText(join(folder, path), text);
      evidence.sums.push(sumLine(text, path));
      evidence.records += records.length;
      evidence.resources.push({ ...times, path, records: records.length, sha256: sha256(text) });
    }
    if (index > 0) continue;
    // The loop goes on with what else the device has.
    const failure = await attempt(() => session.learn(access, resource, 'once', io.signal));
    if (failure) evidence.resources.push({ resource: null, error: errorData(failure) });
    resources.push(...(session.profile.offers ?? []).filter((one) => one !== resource));
  }
}

/** By the rules of the history. */
function maskedRecords(
  session: DeviceSession,
  resource: string,
  records: readonly DeviceRecord[],
): DeviceRecord[] {
  const keeper = new Keeper(randomBytes(32), redactorFor(session));
  const keyField = keyFieldOf(session.profile, resource, records);
  const state = keeper.state(resource, records, keyField, new Set());
  return [...state.values()].map(({ fields }) => fields);
}

function errorData({ code, message }: DevshError) {
  return { code, message };
}

function documentText(content: Readonly<Record<string, JsonValue>>): string {
  return `${jsonText({ schema: 'devsh-evidence/1', ...content }, { indent: 2 })}\n`;
}

function sumLine(text: string, path: string): string {
  return `${sha256(text)}  ${path}\n`;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
