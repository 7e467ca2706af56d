import { createHash, randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { keyFieldOf } from '../../device/profile.ts';
import { type DeviceRecord, type JsonValue, jsonText } from '../../device/record.ts';
import { CancelledError, type DevshError, RefusedError, UsageError } from '../../errors.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import { Keeper } from '../../history/kept.ts';
import { pinOf, redactorFor } from '../../history/observer.ts';
import { fileError, makePrivateFolder, writeNewText } from '../../os/files.ts';
import { zoneText } from '../../text/time.ts';
import { replaceUnsafeInJson } from '../../text/visible.ts';
import type { Call } from '../command.ts';
import { awaiting, type Output, table } from '../output.ts';
import { fileNames } from './export-records.ts';

const SUMS = 'SHA256SUMS';
const MANIFEST = 'manifest.json';

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
  const on = [...options.on, ...call.args.all('RESOURCE'), ...call.args.all('FILTER')];
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
  const now = (): string => shell.services.now().toISOString();
  const began = now();
  const names = fileNames([SUMS, MANIFEST, ...sessions.map(({ ref }) => ref.name)]).slice(2);
  const devices = new Map(
    sessions.map((session, index) => {
      return [session, { folder: names[index] ?? '', resources: [] as JsonValue[] }];
    }),
  );
  const errors: Output[] = [];
  const sums: string[] = [];
  const counts = new Map<string, number>();
  const resources = ['user'];
  // The lists of users show what else there is: the loop continues with it.
  for (const [index, resource] of resources.entries()) {
    const asked: DeviceSession[] = [];
    for (const session of sessions) {
      const { profile, state } = session;
      if (index > 0 && !profile.offers?.includes(resource)) continue;
      const hasFailed = state.kind === 'failed' && state.error.code !== 'protocol';
      if (index === 0 || !hasFailed) asked.push(session);
      else devices.get(session)?.resources.push({ resource, error: errorData(state.error) });
    }
    const from = now();
    const ended = new Map<DeviceSession, string>();
    const reads = call.read(asked, resource, {
      refine: async (session, list) => {
        const full = await session.inFull(call.access, resource, list, io.signal);
        ended.set(session, now());
        if (index === 0) await session.learn(call.access, resource, 'once', io.signal);
        return full;
      },
    });
    for await (const one of reads) {
      const { ref, profile } = one.session;
      const device = devices.get(one.session);
      const times = { resource, from, to: ended.get(one.session) ?? now() };
      yield awaiting(`reading ${resource}`, one.awaited, one.total);
      const more = (profile.offers ?? []).filter((offer) => !resources.includes(offer));
      if (index === 0) resources.push(...more);
      if (!one.ok) {
        errors.push({ kind: 'error', error: one.error, device: ref });
        device?.resources.push({ ...times, error: errorData(one.error) });
        continue;
      }
      const { length } = one.records;
      const path = `${device?.folder ?? ''}/${fileNames(resources)[index] ?? ''}.json`;
      const masked = maskedRecords(one.session, resource, one.records);
      const text = documentText({
        device: ref.name,
        address: ref.address,
        ...times,
        records: masked,
      });
      await writeNewText(join(folder, path), text);
      sums.push(sumLine(text, path));
      counts.set(ref.name, (counts.get(ref.name) ?? 0) + length);
      device?.resources.push({ ...times, path, records: length, sha256: sha256(text) });
    }
    if (io.signal.aborted) throw new CancelledError();
  }
  const { operator: by, version } = shell.services;
  const zone = zoneText(shell.services.now());
  const manifest = documentText({
    ...{ by, version, line: call.line, began, ended: now(), zone },
    devices: [...devices].map(([session, own]) => ({
      device: session.ref.name,
      address: session.ref.address,
      // `verified`: by an authority.
      pin: pinOf(session) ?? 'not checked',
      resources: own.resources,
    })),
  });
  await writeNewText(join(folder, SUMS), sums.join('') + sumLine(manifest, MANIFEST));
  await writeNewText(join(folder, MANIFEST), manifest);
  yield* errors;
  const records = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const read = sessions.flatMap(({ ref }) => (counts.has(ref.name) ? [ref.name] : []));
  const row = { file: folder, records, devices: read };
  yield table('files', ['file', 'records', 'devices'], [row], { hasSuccess: sums.length > 0 });
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
  const text = jsonText({ schema: 'devsh-evidence/1', ...content }, { indent: 2 });
  return `${replaceUnsafeInJson(text)}\n`;
}

function sumLine(text: string, path: string): string {
  return `${sha256(text)}  ${path}\n`;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
