import { setTimeout as sleep } from 'node:timers/promises';
import { restlessFields, suspectFields } from '../../change/restless.ts';
import { observedAfter, withObservation, type Observation } from '../../device/observation.ts';
import { keyFieldOf } from '../../device/profile.ts';
import type { DeviceRecord, DeviceRef } from '../../device/record.ts';
import { DevshError } from '../../errors.ts';
import type { Member } from '../../fleet/member.ts';
import type { Call } from '../command.ts';
import { type Output, warning, info } from '../output.ts';
import type { Services } from '../services.ts';

/** In this time a clock in seconds has gone on. */
const CLOCK_TICK_MS = 1100;

/** Keeps what writing to a device showed of how it speaks. Where that fails, it is seen anew next time. */
export async function keepObservation(
  { profiles, now }: Pick<Services, 'profiles' | 'now'>,
  member: Member,
  observation: Observation,
): Promise<void> {
  const { profile } = member;
  member.learned(withObservation(profile, observation));
  try {
    await profiles.updateLearned(member.ref.address, (held) => {
      const known = held ?? { at: now().toISOString(), byResource: {} };
      return { ...known, ...observedAfter(known, profile, observation) };
    });
  } catch (error) {
    if (!(error instanceof DevshError)) throw error;
  }
}

/** Reads a resource until it is clear whether something in it changes while nobody writes; keeps what does. */
export async function watchForCounters(
  call: Call,
  member: Member,
  resource: string,
  first: readonly DeviceRecord[],
): Promise<readonly string[]> {
  const { access, io, session } = call;
  const list = (): Promise<readonly DeviceRecord[]> => member.list(access, resource, io.signal);
  const about = { resource, keyField: keyFieldOf(member.profile, resource, first), asked: {} };
  const second = await list();
  if (suspectFields(member.profile, about, first, second).length === 0) return [];
  await sleep(CLOCK_TICK_MS, undefined, { signal: io.signal }).catch(() => undefined);
  const fields = restlessFields(member.profile, about, [first, second, await list()]);
  if (fields.length > 0) {
    await keepObservation(session.services, member, { kind: 'volatile', resource, fields });
  }
  return fields;
}

/** What the user should know of it; nothing where it only proves what was assumed. */
export function observationOutput(
  { name }: DeviceRef,
  observation: Observation,
): Output | undefined {
  switch (observation.kind) {
    case 'proven':
    case 'writing':
      return undefined;
    case 'positional': {
      const text = `${name}: ids are places in the list (${observation.example}): each record is looked up by what it holds from now on`;
      return warning(text);
    }
    case 'one connection': {
      const text = `${name}: takes one connection at a time: reads make room for writes from now on`;
      return info(text);
    }
    case 'volatile': {
      const { resource, fields } = observation;
      const verb = fields.length === 1 ? 'changes' : 'change';
      const text = `${name}: ${fields.join(', ')} of ${resource} ${verb} while nobody writes: not compared from now on`;
      return info(text);
    }
  }
}
