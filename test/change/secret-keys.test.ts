import { randomBytes } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { journalLine } from '../../src/change/journal.ts';
import { planDevice } from '../../src/change/plan-device.ts';
import { curlScript } from '../../src/shell/writing/curl-script.ts';
import { serializePlan } from '../../src/change/plan-file.ts';
import { digestWith } from '../../src/device/sensitive-fields.ts';
import { genericRestProfile } from '../../src/device/built-in-profiles.ts';
import { withResource } from '../../src/device/profile.ts';

const device = { name: 'fw1', address: '10.0.0.5:443' };
const profile = withResource(genericRestProfile, 'token', { keyField: 'key', namedBy: 'key' });
const SECRETS = ['f3a05bbe22aa41', '52a6c0ffee0011'];
const records = SECRETS.map((key) => ({ key, user: 'eve' }));
const head = { run: 'r1', at: '2026-11-21T09:30:41.000Z', command: '', by: 'ann', version: '1' };

function planOf(key: string) {
  const target = { kind: 'key' as const, key };
  return planDevice({ device, profile }, { action: 'delete', resource: 'token', target }, records);
}

test('a secret natural key is a digest in its step, and the journal has it nowhere', () => {
  const plan = planOf(SECRETS[1] ?? '');
  const [step] = plan.steps;
  expect(step?.request.path).toBe(`/api/token/${SECRETS[1] ?? ''}`);
  expect(step?.key).toMatch(/^\*\*\*[\w-]{12}$/);
  const line = journalLine({ kind: 'device', plan: { ...plan, keyReadings: undefined } });
  for (const secret of SECRETS) expect(line).not.toContain(secret);
  expect(line).toContain('"path":"/api/token/***"');
  expect(line).toContain(`"before":{"key":"${step?.key ?? ''}"`);
  const script = curlScript('token delete', { devices: [plan] }, new Map());
  expect(script).not.toContain(SECRETS[1]);
  expect(script).toContain(`'https://10.0.0.5:443/api/token/'"$FIELD_KEY"`);
  const file = { ...head, expiresAt: head.at, changes: [] };
  expect(() => serializePlan(file, [plan])).toThrow('a plan file must not hold');
});

test('the digest finds the record again, on the machine that made it', () => {
  const [step] = planOf(SECRETS[1] ?? '').steps;
  expect(planOf(step?.key ?? '').steps).toEqual([step]);
  onTestFinished(() => digestWith(() => undefined));
  digestWith(() => randomBytes(32));
  expect(planOf(step?.key ?? '')).toMatchObject({
    steps: [],
    settled: [{ verdict: 'failed', error: { code: 'not-found' } }],
  });
});
