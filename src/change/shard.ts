import { UsageError } from '../errors.ts';

/** More machines than that share no work. */
const MOST = 10_000;

/** One of several parts of a plan, each for a machine or a job of its own. */
export interface Shard {
  /** From 1. */
  readonly index: number;
  readonly total: number;
}

export const WHOLE: Shard = { index: 1, total: 1 };

/** `2/4`: the second of four. Throws a `UsageError`. */
export function parseShard(text: string): Shard {
  const [, index = '', total = ''] = /^(\d+)\/(\d+)$/.exec(text) ?? [];
  if (index === '') throw new UsageError(`"${text}" is no shard: the second of four is 2/4`);
  return shardOf(Number(index), Number(total));
}

/** Throws a `UsageError` for a shard that there is not: `0/3`, `5/3`. */
export function shardOf(index: number, total: number): Shard {
  if (total < 1 || total > MOST) {
    throw new UsageError(`there are 1 to ${MOST} shards, not ${total}`);
  }
  if (index < 1 || index > total) {
    throw new UsageError(`there is no shard ${index} of ${total}: they count from 1 to ${total}`);
  }
  return { index, total };
}

export function shardText({ index, total }: Shard): string {
  return `${index}/${total}`;
}

/**
 * The devices of a shard, by their places in the plan: the first shard of four has the first device,
 * the fifth, the ninth. The same plan gives the same shards everywhere, and no two differ by more
 * than one device.
 */
export function devicesOfShard<Device>(
  devices: readonly Device[],
  { index, total }: Shard,
): readonly Device[] {
  return devices.filter((_device, place) => place % total === index - 1);
}
