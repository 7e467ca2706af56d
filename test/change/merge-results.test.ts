import fc from 'fast-check';
import { expect, test } from 'vitest';
import { journalLine } from '../../src/change/journal.ts';
import { openingLines } from './steps.ts';
import {
  mergeResults,
  readResult,
  type ResultFile,
  resultText,
} from '../../src/change/result-file.ts';
import { type DevicePlan, isInShard, type Shard } from '../../src/change/plan.ts';
import { resultsOf } from '../../src/change/run-results.ts';
import type { Verdict } from '../../src/change/verdict.ts';
import { RefusedError } from '../../src/errors.ts';
import { textOf } from '../../src/output/sentences.ts';

const DIGEST = 'a'.repeat(64);
const AT = '2026-11-21T09:30:41.000Z';

function plannedOn(count: number): readonly DevicePlan[] {
  return Array.from({ length: count }, (_, index) => ({
    device: { name: `fw${index + 1}`, address: `10.0.0.${index + 1}:443` },
    steps: [
      {
        ...{ action: 'add', resource: 'user', key: 'zoe', keyField: 'username' },
        request: { method: 'POST', path: '/api/user/', form: [['username', 'zoe']] },
        ...{ asked: { username: 'zoe' }, effects: {} },
      },
    ],
    settled: [],
  }));
}

interface Attempt {
  readonly run: string;
  readonly shard?: Shard;
  readonly verdict?: Verdict | 'waiting';
  readonly ended?: boolean;
  readonly minute?: number;
}

/** Written from the journal of the run and read again. */
function fileOf(devices: readonly DevicePlan[], attempt: Attempt): ResultFile {
  const {
    run,
    shard = { index: 1, total: 1 },
    verdict = 'done',
    ended = true,
    minute = 0,
  } = attempt;
  const at = AT.replace(':30:', `:${30 + minute}:`);
  const head = { run, at, command: 'apply', by: 'lea@desk', version: '1.0.0' };
  const own = devices.filter(({ device }) => isInShard(device.address, shard));
  const opening = openingLines(
    { kind: 'run', ...head, part: { digest: DIGEST, shard, result: '/r' } },
    own,
  );
  const verdicts = own.map(({ device }) => {
    if (verdict === 'waiting' || !ended) return '';
    const result = { device, resource: 'user', key: 'zoe', action: 'add' as const, verdict };
    return journalLine({ kind: 'verdict', ref: { device: device.name, index: 0 }, at, result });
  });
  const text = resultText(opening + verdicts.join(''), ended ? at : undefined);
  return readResult(text, `${run}.json`);
}

function merge(devices: readonly DevicePlan[], ...attempts: readonly Attempt[]) {
  const files = attempts.map((attempt) => fileOf(devices, attempt));
  const merged = mergeResults([{ run: 'whole', devices, command: 'plan', digest: DIGEST }], files);
  return {
    verdicts: resultsOf(merged.run).map(({ verdict }) => verdict),
    missing: merged.missing.map(({ name }) => name),
    remarks: merged.remarks.map(textOf),
  };
}

test('any number of shards has each device once, in the order of the plan', () => {
  fc.assert(
    fc.property(fc.nat(60), fc.integer({ min: 1, max: 12 }), fc.nat(11), (count, total, lost) => {
      const devices = plannedOn(count);
      const shards = Array.from({ length: total }, (_, index) => ({ index: index + 1, total }));
      const isLost = ({ device }: DevicePlan): boolean =>
        isInShard(device.address, { index: lost + 1, total });
      const attempts = shards.map((shard) => ({ run: `run${shard.index}`, shard }));
      expect(merge(devices, ...attempts.toReversed())).toEqual({
        verdicts: devices.map(() => 'done'),
        missing: [],
        remarks: [],
      });
      const some = attempts.filter((_, index) => index !== lost);
      const { verdicts, missing } = merge(devices, ...some);
      expect(verdicts).toEqual(devices.map((one) => (isLost(one) ? 'unknown' : 'done')));
      expect(missing).toEqual(devices.filter(isLost).map(({ device }) => device.name));
    }),
  );
});

test('a device is in one shard, whatever else is in the inventory, and shards are about equal', () => {
  const total = 4;
  const shards = Array.from({ length: total }, (_, index) => ({ index: index + 1, total }));
  fc.assert(
    fc.property(fc.ipV4(), fc.nat(0xffff), (host, port) => {
      const own = shards.filter((shard) => isInShard(`${host}:${port}`, shard));
      expect(own).toHaveLength(1);
    }),
  );
  const addresses = Array.from({ length: 4000 }, (_, at) => `10.1.${at >> 8}.${at & 255}:443`);
  for (const shard of shards) {
    const { length } = addresses.filter((address) => isInShard(address, shard));
    expect(Math.abs(length - 1000)).toBeLessThan(120);
  }
});

test('the later attempt counts, with a remark, if the earlier one had not finished', () => {
  const devices = plannedOn(2);
  for (const first of [{ ended: false }, { verdict: 'failed' }, { verdict: 'waiting' }] as const) {
    const { verdicts, remarks } = merge(devices, { run: 'b', minute: 1 }, { run: 'a', ...first });
    expect(verdicts).toEqual(['done', 'done']);
    expect(remarks).toEqual(['2 devices: using b.json, because a.json did not finish']);
  }
});

test('the earlier attempt counts if the later one never reached the device', () => {
  const { verdicts, remarks } = merge(
    plannedOn(1),
    { run: 'a' },
    { run: 'b', minute: 1, verdict: 'waiting' },
  );
  expect(verdicts).toEqual(['done']);
  expect(remarks).toEqual(['1 device: using a.json, because b.json did not finish']);
});

test('a device that two runs completed is refused', () => {
  for (const second of [{}, { verdict: 'drift' }, { ended: false }] as const) {
    const attempts = [{ run: 'a' }, { run: 'b', minute: 1, ...second }];
    expect(() => merge(plannedOn(1), ...attempts)).toThrow(/^a.json and b.json both applied fw1/);
  }
});

test('a resumed run is one attempt: the latest file counts', () => {
  const { verdicts, remarks } = merge(plannedOn(1), { run: 'a' }, { run: 'a', ended: false });
  expect([verdicts, remarks]).toEqual([['done'], []]);
});

test('an unfinished shard is unknown, with a hint how to resume it', () => {
  const { verdicts, missing, remarks } = merge(plannedOn(1), { run: 'a', ended: false });
  expect([verdicts, missing]).toEqual([['unknown'], []]);
  expect(remarks).toEqual([
    'shard 1/1 (a.json) did not end: run the same line again, or "resume a" as lea@desk',
  ]);
});

test('a result of another plan, or with devices outside the plan, is refused', () => {
  const devices = plannedOn(2);
  const file = fileOf(devices, { run: 'a' });
  const whole = (plan: readonly DevicePlan[], digest: string) => () =>
    mergeResults([{ run: 'whole', devices: plan, command: 'plan', digest }], [file]);
  expect(whole(devices, 'b'.repeat(64))).toThrow(RefusedError);
  expect(whole(devices.slice(1), DIGEST)).toThrow('a.json does not match the plan');
  const moved = devices.map((one) => ({
    ...one,
    device: { ...one.device, address: '10.9.9.9:443' },
  }));
  expect(whole(moved, DIGEST)).toThrow('a.json does not match the plan');
});

test('a result that was cut or altered anywhere is refused', () => {
  const devices = plannedOn(1);
  const at = AT;
  const part = { digest: DIGEST, shard: { index: 1, total: 1 }, result: '/r' };
  const head = { run: 'a', at, command: 'apply', by: 'lea@desk', version: '1.0.0', part };
  const text = resultText(openingLines({ kind: 'run', ...head }, devices), at);
  for (let place = 0; place < text.length; place += 1) {
    expect(() => readResult(text.slice(0, place), 'r')).toThrow(RefusedError);
    const other = text[place] === '0' ? '1' : '0';
    const altered = text.slice(0, place) + other + text.slice(place + 1);
    expect(() => readResult(altered, 'r')).toThrow(RefusedError);
  }
});
