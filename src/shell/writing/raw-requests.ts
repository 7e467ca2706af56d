import type { StepResult } from '../../change/verdict.ts';
import { assertNoCollection, ownPath } from '../../device/record-path.ts';
import type { WriteRequest } from '../../device/encode.ts';
import { documentedProfile } from '../../device/built-in-profiles.ts';
import { decodeList } from '../../device/decode.ts';
import {
  BodyFailure,
  ProtocolError,
  RejectedError,
  UnreachableError,
} from '../../device/errors.ts';
import { givesAccess, isSameName, named, isBreakGlass } from '../../change/account-harm.ts';
import { isKeyOf } from '../../change/identity.ts';
import {
  type Allowed,
  allowHint,
  allowOption,
  BREAK_GLASS,
  OWN_ACCOUNT,
  permits,
} from '../../change/allow.ts';
import {
  collectionIn,
  encodedFor,
  isDelete,
  pathNames,
  rawTarget,
  type RawTarget,
  rawWords,
  wordsOf,
} from '../../change/raw-target.ts';
import { journalLine, opening } from '../../change/journal.ts';
import type { DevicePlan, Plan } from '../../change/plan.ts';
import type { ReadInFull } from '../../change/read-and-plan.ts';
import { keyFieldOf, type Profile } from '../../device/profile.ts';
import { type DeviceRecord, isNested, isValueList, isValueObject } from '../../device/record.ts';
import { attempt, expectedError, RefusedError } from '../../errors.ts';
import { recordChanges } from '../../fleet/compared.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import { pluralOf } from '../../text/one-line.ts';
import { visible } from '../../text/visible.ts';
import type { WriteCall } from '../command.ts';
import { maskedWord } from '../grammar/hide-secrets.ts';
import { info, type Output, warning } from '../output.ts';
import { guard, reasonFor } from './consent.ts';
import { confirm } from '../session.ts';
import { headOf } from './execute.ts';
import { write } from './write.ts';
import { textOf } from '../../output/sentences.ts';

/**
 * Sends a request as it was typed. If devsh knows which record it changes, it is planned, guarded, confirmed,
 * journaled and read back as any other write. If not, devsh guards the records that the request names, asks, sends
 * it, and reads the list again.
 *
 * @param send sends the requests of which devsh does not know what they do
 */
export async function* writeRaw(
  call: WriteCall,
  request: WriteRequest,
  send: (requests: ReadonlyMap<DeviceSession, WriteRequest>) => AsyncGenerator<Output>,
): AsyncGenerator<Output> {
  ownPath(request.path);
  if (request.method === 'DELETE') assertNoCollection(documentedProfile, request.path);
  const sessions = await call.sessions();
  const text = `${request.method} ${maskedWord(request.path)}`;
  const unknown = new Map<DeviceSession, Target & { readonly request: WriteRequest }>();
  yield* write(call, {
    sessions,
    wanted: (session) => ({
      about: [{ action: isDelete(request) ? 'delete' : 'set', resource: text, key: '' }],
      changes: async (read) => {
        await session.ensureOpen(call.access);
        const encoded = encodedFor(session.profile, request);
        const target = await targetOn(call, session, encoded, read);
        if (target.unknown !== undefined) unknown.set(session, { ...target, request: encoded });
        return target.changes;
      },
    }),
    age: 'fresh',
    async *review(plan) {
      const addresses = new Set([...unknown.keys()].map(({ ref }) => ref.address));
      const isUnknown = ({ device }: DevicePlan): boolean => addresses.has(device.address);
      const guarded = { ...plan, devices: plan.devices.filter(isUnknown) };
      const allowed = await guard(call, guarded, sessions, 'this line');
      for (const [session, target] of unknown) {
        refuseUnknown(allowed, session, target.request, target);
        yield info(`${session.ref.name}: ${textOf(target.unknown ?? '')}`);
      }
      const devices = plan.devices.filter((one) => !isUnknown(one));
      return devices.length === 0 ? undefined : { plan: { ...plan, devices } };
    },
  });
  if (unknown.size === 0) return;
  const names = [...unknown.keys()].map(({ ref }) => ref.name).join(', ');
  if (call.options.dryRun) {
    yield info(`would send ${text} to ${names}`);
    return;
  }
  const reason = await reasonFor(call);
  const question = (expected: string): string =>
    `${text} to ${names}? devsh does not know what it does, and "undo" cannot take it back. Type ${expected} to send it:`;
  await confirm(call, unknown.size, question);
  const devices = [...unknown.keys()].map(({ ref }) => ({ device: ref, raw: text, ...NO_STEPS }));
  const requests = new Map([...unknown].map(([session, target]) => [session, target.request]));
  yield* journaled(call, { run: await call.newRun(), devices, reason }, send(requests));
  for (const [session, { list }] of unknown) if (list) yield* effectOn(call, session, list);
}

const NO_STEPS = { steps: [], settled: [] } as const;

/**
 * Writes to the journal first that the requests are sent, and afterwards to which devices none was sent. The run ends
 * there only if every other device has answered.
 */
async function* journaled(
  call: WriteCall,
  plan: Plan,
  sent: AsyncGenerator<Output>,
): AsyncGenerator<Output> {
  const { services } = call.shell;
  const at = (): string => services.now().toISOString();
  const file = await services.runs.create(plan.run);
  try {
    const entries = opening(headOf(call, plan, at()), plan.devices);
    await file.append(entries.map((entry) => journalLine(entry)).join(''));
    const unsent = new Set(plan.devices.map(({ device }) => device.address));
    let open = 0;
    for await (const output of sent) {
      if (output.kind === 'answer') unsent.delete(output.device.address);
      else if (output.kind === 'error' && output.device !== undefined) {
        const isUnsent = output.error instanceof UnreachableError && !output.error.mayHaveArrived;
        if (!isUnsent && unsent.delete(output.device.address)) open += 1;
      }
      yield output;
    }
    for (const { device, raw = '' } of plan.devices) {
      if (!unsent.has(device.address)) continue;
      const about = { device, resource: raw, key: '', action: 'set' } as const;
      const notes = [{ code: 'unfinished', is: 'waiting' }] as const;
      const settled: StepResult[] = [{ ...about, verdict: 'skipped', notes }];
      await file.append(journalLine({ kind: 'device', plan: { device, steps: [], settled } }));
    }
    if (open === 0) await file.append(journalLine({ kind: 'end', at: at() }));
  } finally {
    await file.close();
  }
}

interface List {
  readonly resource: string;
  readonly records: readonly DeviceRecord[];
}

interface Target extends RawTarget {
  readonly list?: List;
  /** Whether the request may change accounts, if its effect is not known. */
  readonly isOfAccounts?: boolean;
  /** The one record that a GET of the same path shows, for a DELETE whose effect is not known. */
  readonly own?: DeviceRecord | undefined;
}

/** Reads the list again, and yields each record that is different, whoever changed it. */
async function* effectOn(
  { access, io, shell }: WriteCall,
  session: DeviceSession,
  { resource, records }: List,
): AsyncGenerator<Output> {
  const { ref, profile } = session;
  const held = await session.list(access, resource, io.signal).catch(expectedError);
  if (held instanceof Error) {
    const reason = visible(held.message);
    yield warning(
      `${ref.name}: devsh cannot read the list of its ${pluralOf(resource)} again: ${reason}`,
    );
    return;
  }
  const changes = recordChanges(records, held, keyFieldOf(profile, resource, records));
  const view = { resource, layout: 'table', fold: false, perDevice: [] } as const;
  const at = shell.services.now();
  for (const change of changes) yield { kind: 'change', at, device: ref, view, change };
  if (changes.length > 0) return;
  yield info(`${ref.name}: the list of its ${pluralOf(resource)} is as before`);
}

/** Looks for the record in the list of the nearest collection. If a DELETE stays unclear, reads its own path. */
async function targetOn(
  call: WriteCall,
  session: DeviceSession,
  request: WriteRequest,
  read: ReadInFull,
): Promise<Target> {
  if (request.method === 'DELETE') assertNoCollection(session.profile, request.path);
  const target = await listedTarget(session, request, read);
  const isOpen = target.unknown !== undefined && request.method === 'DELETE';
  return isOpen ? { ...target, own: await ownRecord(call, session, request.path) } : target;
}

async function listedTarget(
  session: DeviceSession,
  request: WriteRequest,
  read: ReadInFull,
): Promise<Target> {
  const { profile } = session;
  const collection = collectionIn(profile, request);
  if (collection === undefined) {
    return { changes: [], unknown: 'its path is below no list that devsh knows' };
  }
  const { resource } = collection;
  const records = await read(resource, 'listed').catch(expectedError);
  if (!(records instanceof Error)) {
    const isOfAccounts = givesAccess(profile, resource, records);
    const target = rawTarget(request, profile, collection, records);
    return { ...target, list: { resource, records }, isOfAccounts };
  }
  if (!(records instanceof RejectedError || records instanceof ProtocolError)) throw records;
  const unknown = `the list of its ${pluralOf(resource)} cannot be read`;
  return { changes: [], unknown, isOfAccounts: true };
}

/** The one record at this path, if the last part of the path names it; undefined for a list, a query and all else. */
async function ownRecord(
  { access, io }: WriteCall,
  session: DeviceSession,
  path: string,
): Promise<DeviceRecord | undefined> {
  // A query may mean another thing in a GET than in a DELETE.
  if (path.includes('?')) return undefined;
  const { status, body } = await session.use(access, (device) =>
    device.raw({ method: 'GET', path }, io.signal),
  );
  const { profile } = session;
  const [name = '', resource = ''] = pathNames(path).toReversed();
  const list =
    status === 200 ? attempt(BodyFailure, () => decodeList(body, resource, profile)) : undefined;
  const [record] = list?.single === true ? list.records : [];
  if (record === undefined || name === '' || mayHoldRecords(profile, record)) return undefined;
  const names = [...profile.idFields, keyFieldOf(profile, resource, [record])];
  return isKeyOf(record, names, name) ? record : undefined;
}

/** Whether an object may be a collection: it may have a name of its own, and its records in a field of any name. */
function mayHoldRecords({ idFields }: Profile, object: DeviceRecord): boolean {
  return Object.values(object).some((value) =>
    isValueList(value)
      ? value.some(isNested)
      : isValueObject(value) && idFields.some((field) => Object.hasOwn(value, field)),
  );
}

/** Throws a `RefusedError` for a request that may end the access of an account that somebody needs. */
function refuseUnknown(
  allowed: Allowed,
  { ref, entry, credential, profile, tokenOwner }: DeviceSession,
  request: WriteRequest,
  { unknown = '', isOfAccounts = false, own }: Target,
): void {
  const user = credential?.user ?? tokenOwner ?? '';
  const words = [...rawWords(profile, request), ...(own === undefined ? [] : wordsOf(own))];
  const patterns = entry.breakGlass ?? [];
  const found = words
    .flatMap((word) => [
      ...(user !== '' && isSameName(word, user)
        ? [[OWN_ACCOUNT, user, 'the account in use'] as const]
        : []),
      ...(isBreakGlass(word, patterns)
        ? [[BREAK_GLASS, word, 'a break-glass account'] as const]
        : []),
    ])
    .find(([word, account]) => !permits(allowed, word, account));
  if (found !== undefined) {
    const [word, account, what] = found;
    throw new RefusedError(
      `${ref.name}: the request names ${named(account)}, ${what}; name it in full to override: ${allowOption(word, account)}`,
    );
  }
  const isDoubtful = request.method === 'DELETE' ? own === undefined : isOfAccounts;
  if (isDoubtful && !allowed.has('unread')) {
    throw new RefusedError(
      `${ref.name}: ${textOf(unknown)}; nothing was sent; ${allowHint('unread')}`,
    );
  }
}
