import * as z from 'zod';
import type { DeviceRef } from '../device/record.ts';

/** The lines of these journals have the current format. */
export const JOURNAL_1 = 'devsh-journal/1';

const step = z.looseObject({
  resource: z.string(),
  key: z.string(),
  action: z.string(),
  state: z.enum(['waiting', 'sent', 'ended']),
  at: z.string().optional(),
});

/** A result file consists of one line. */
const resultFile = z.looseObject({
  run: z.string(),
  by: z.string(),
  version: z.string(),
  command: z.string(),
  plan: z.looseObject({ sha256: z.string() }),
  shard: z.unknown(),
  began: z.iso.datetime(),
  ended: z.iso.datetime().optional(),
  stopped: z.string().optional(),
  devices: z.array(
    z.looseObject({ device: z.string(), address: z.string(), steps: z.array(step) }),
  ),
});

/**
 * Converts a line of the formats `devsh-…/1` to current entries, still to be checked; undefined for other
 * lines. A plan file had a head, a line for each device, and its SHA-256.
 */
export function fromVersion1(line: unknown): readonly unknown[] | undefined {
  if (typeof line !== 'object' || line === null) return undefined;
  const { schema, kind, createdAt, sha256, device, ...head } = line as Record<string, unknown>;
  switch (schema) {
    case JOURNAL_1:
      return [line];
    case 'devsh-plan/1':
      return [{ by: '', version: '', ...head, kind: 'plan', at: createdAt }];
    case 'devsh-result/1': {
      const { data } = resultFile.safeParse(head);
      return data && entriesOfResult(data);
    }
    case undefined:
      if (kind !== undefined) return undefined;
      if (device !== undefined) return [{ kind: 'device', plan: line }];
      return sha256 === undefined ? undefined : [{ kind: 'planned' }, { kind: 'seal', sha256 }];
    default:
      return undefined;
  }
}

/** A result has only the names of its steps: their requests are in the plan file. */
function entriesOfResult(result: z.infer<typeof resultFile>): unknown[] {
  const { run, by, version, command, plan, shard, began: at, ended, stopped, devices } = result;
  const part = { digest: plan.sha256, shard, result: '' };
  return [
    { kind: 'run', run, at, command, by, version, part },
    ...devices.map(({ device: name, address, steps }) => ({
      kind: 'device',
      plan: { device: { name, address }, settled: [], steps: steps.map(stepOf) },
    })),
    { kind: 'planned' },
    ...devices.flatMap(({ device: name, address, steps }) =>
      steps.flatMap((one, index) => stateOf({ name, address }, index, { at, ...one })),
    ),
    ...(stopped === undefined ? [] : [{ kind: 'stop', at: ended ?? at, reason: stopped }]),
    ...(ended === undefined ? [] : [{ kind: 'end', at: ended }]),
  ];
}

type Step1 = z.infer<typeof step>;

function stepOf({ resource, key, action }: Step1): unknown {
  const request = { method: 'POST', path: '/' };
  return { resource, key, action, keyField: '', request, asked: {}, filled: {} };
}

function stateOf(device: DeviceRef, index: number, { state, at, ...result }: Step1): unknown[] {
  const ref = { device: device.name, index };
  if (state === 'waiting') return [];
  if (state === 'sent') return [{ kind: 'send', ref, at }];
  return [{ kind: 'verdict', ref, at, result: { ...result, device } }];
}
