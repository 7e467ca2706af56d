import { setTimeout as sleep } from 'node:timers/promises';
import { Watch } from '../../change/observe.ts';
import type { NewFact } from '../../device/facts.ts';
import { keyFieldOf } from '../../device/profile.ts';
import type { DeviceRecord, DeviceRef } from '../../device/record.ts';
import type { Member } from '../../fleet/member.ts';
import type { Call } from '../command.ts';
import { type Output, warning, info } from '../output.ts';

/** In this time a clock in seconds has gone on. */
const CLOCK_TICK_MS = 1100;

/** Reads a resource until it is clear whether something in it changes while nobody writes. */
export async function watchForCounters(
  { access, io }: Call,
  member: Member,
  resource: string,
  first: readonly DeviceRecord[],
): Promise<readonly string[]> {
  const { facts } = member;
  const known = facts.get(`resources.${resource}.volatile`) ?? [];
  const about = { resource, keyField: keyFieldOf(member.profile, resource, first), asked: {} };
  const watch = new Watch(facts, about, first);
  if (!watch.next(await member.list(access, resource, io.signal))) return [];
  await sleep(CLOCK_TICK_MS, undefined, { signal: io.signal }).catch(() => undefined);
  watch.next(await member.list(access, resource, io.signal));
  await facts.told;
  const all = facts.get(`resources.${resource}.volatile`) ?? [];
  return all.filter((field) => !known.includes(field));
}

/** What the user should know of it; nothing where it only proves what was assumed. */
export function newsOutput({ name }: DeviceRef, { fact, value, why = '' }: NewFact): Output[] {
  const [, resource, volatile] = /^resources\.([^.]+)\.(volatile)$/.exec(fact) ?? [];
  if (fact === 'ids') {
    const text = `${name}: ids are places in the list (${why}): each record is looked up by what it holds from now on`;
    return [warning(text)];
  }
  if (fact === 'connections') {
    return [
      info(`${name}: takes one connection at a time: reads make room for writes from now on`),
    ];
  }
  if (resource === undefined || volatile === undefined) return [];
  const fields = value as readonly string[];
  const verb = fields.length === 1 ? 'changes' : 'change';
  const text = `${name}: ${fields.join(', ')} of ${resource} ${verb} while nobody writes: not compared from now on`;
  return [info(text)];
}
