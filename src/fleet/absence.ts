import { hasPositionalIds, idOf, listFacts } from '../device/profile.ts';
import { RejectedError } from '../device/errors.ts';
import type { DeviceRecord } from '../device/record.ts';
import { CancelledError, DevshError, expectedError, unlessFailed } from '../errors.ts';
import type { Note } from '../output/sentences.ts';
import type { Access } from './access.ts';
import { type DeviceSession, mayLeaveOut } from './device-session.ts';

/** Whether a record exists that a list does not show. */
export type Absence =
  | { readonly kind: 'there'; readonly record: DeviceRecord }
  /** A GET of its own path showed it, or no reading ever had the record and there is no doubt about the list. */
  | { readonly kind: 'absent' }
  | { readonly kind: 'not known'; readonly why: Note };

interface Listed {
  readonly session: DeviceSession;
  readonly access: Access;
  readonly resource: string;
  readonly records: readonly DeviceRecord[];
  readonly signal?: AbortSignal | undefined;
}

/** Chooses the records that are meant. */
type MeantAmong = (records: readonly DeviceRecord[]) => readonly DeviceRecord[];

/** The only place that decides whether a record is absent that a list lacks: by its own path, if its id was known. */
export async function absenceOf(
  listed: Listed,
  meantAmong: MeantAmong,
  image?: DeviceRecord,
): Promise<Absence> {
  const { session, access, resource, records, signal } = listed;
  const known = await session.known(resource);
  const meant = new Set(meantAmong(known.images.map(([, one]) => one)));
  const [key, last = image] = known.images.findLast(([, one]) => meant.has(one)) ?? [];
  const id = last && idOf(session.profile, last);
  // If the list has a record with this id, it was only renamed.
  const isMissing = id !== undefined && !records.some((one) => idOf(session.profile, one) === id);
  const doubt = await listDoubt(session, resource, records.length);
  const isCut = doubt !== undefined && listFacts(session.profile, resource).hides !== true;
  const isProven = doubt === undefined && key !== undefined && known.absent.has(key);
  const own = last && isMissing && !isProven ? await readOwnPath(listed, last) : undefined;
  if (own?.kind === 'there') session.facts.set(`resources.${resource}.list.hides`, true);
  if (own?.kind === 'absent' && key !== undefined) session.proveAbsent(resource, key);
  if (own !== undefined && (own.kind !== 'absent' || !isCut)) return own;
  if (doubt === undefined) return { kind: 'absent' };
  // Another record of this name may be behind the end of the list.
  const more = (await unlessFailed(session.probePages(access, resource, signal))) ?? [];
  const [found] = meantAmong(more);
  if (found !== undefined) return { kind: 'there', record: found };
  return more.length > records.length ? { kind: 'absent' } : { kind: 'not known', why: doubt };
}

/** Why a list of this size does not prove that a record is absent; undefined if it does. */
export async function listDoubt(
  session: DeviceSession,
  resource: string,
  size: number,
): Promise<Note | undefined> {
  const end = session.endOf(resource);
  if (end === 'hides') return { code: 'list-hides' };
  if (!mayLeaveOut(end, size, 0)) return undefined;
  if (!mayLeaveOut(end, size, (await session.known(resource)).most)) return undefined;
  return { code: 'list-cut', device: session.ref.name };
}

/** Reads the record at its own path. A 404 counts only on a device that shows listed records at their own paths. */
export async function readOwnPath(
  { session, access, resource, records, signal }: Listed,
  image: DeviceRecord,
): Promise<Absence> {
  const { profile, facts } = session;
  const id = idOf(profile, image);
  const why: Note = { code: 'own-path-unclear' };
  if (id === undefined || hasPositionalIds(profile)) return { kind: 'not known', why };
  const read = async (one: DeviceRecord): Promise<DeviceRecord | DevshError | undefined> => {
    try {
      return (await session.details(access, resource, [one], signal))[0];
    } catch (error) {
      if (error instanceof CancelledError) throw error;
      return expectedError(error);
    }
  };
  const own = await read(image);
  if (own !== undefined && !(own instanceof DevshError)) return { kind: 'there', record: own };
  const isNone = own instanceof RejectedError && [404, 410].includes(own.status);
  if (!isNone) return { kind: 'not known', why };
  const example = records.find((one) => idOf(profile, one) !== id);
  const stated = listFacts(profile, resource).detail;
  if (stated === undefined && example !== undefined) {
    const shown = await read(example);
    const isShown = !(shown instanceof DevshError) && shown !== undefined;
    facts.set(`resources.${resource}.list.detail`, isShown ? '{item}' : 'none');
  }
  const { detail = 'none' } = listFacts(session.profile, resource);
  return detail === 'none' ? { kind: 'not known', why } : { kind: 'absent' };
}
