import { CredentialGate } from '../../src/fleet/credential-gate.ts';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Credential } from '../../src/device/credential.ts';
import { CredentialError } from '../../src/errors.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const credential = Credential.basic('admin', 'secret');

/** Ten devices ask at the same time; tells who got it, and how each ended. */
function askAll(gate: CredentialGate, names: readonly string[], answer: 'accepted' | 'refused') {
  const reached: string[] = [];
  const outcomes = names.map(async (name) => {
    await gate.admit(name, credential);
    reached.push(name);
    await Promise.resolve();
    gate.settle(name, credential, answer);
  });
  return { reached, outcomes: Promise.allSettled(outcomes) };
}

const TEN = Array.from({ length: 10 }, (_, index) => `fw${index}`);

test('a wrong password reaches two devices of ten, and the others say whom it failed at', async () => {
  const { reached, outcomes } = askAll(new CredentialGate(), TEN, 'refused');
  const rejected = (await outcomes).flatMap((one) =>
    one.status === 'rejected' ? [one.reason as unknown] : [],
  );
  expect(reached).toEqual(['fw0', 'fw1']);
  expect(rejected).toHaveLength(8);
  for (const reason of rejected) expect(reason).toBeInstanceOf(CredentialError);
  expect(String(rejected[0])).toContain('fw0 and fw1 refused it');
  expect(String(rejected[0])).not.toContain('secret');
});

test('once a device has accepted it, all others get it', async () => {
  const { reached, outcomes } = askAll(new CredentialGate(), TEN, 'accepted');
  await outcomes;
  expect(reached).toHaveLength(10);
});

test('two silent devices do not keep the others waiting forever', async () => {
  const gate = new CredentialGate();
  await gate.admit('fw0', credential);
  await gate.admit('fw1', credential);
  const third = gate.admit('fw2', credential);
  await vi.advanceTimersByTimeAsync(2_000);
  await expect(third).resolves.toBeUndefined();
});

test('a device that accepted it keeps getting it after two others refused it, until it refuses it, too', async () => {
  const gate = new CredentialGate();
  await gate.admit('fw0', credential);
  gate.settle('fw0', credential, 'accepted');
  await askAll(gate, ['fw1', 'fw2'], 'refused').outcomes;
  await expect(gate.admit('fw3', credential)).rejects.toBeInstanceOf(CredentialError);

  await gate.admit('fw0', credential);
  gate.settle('fw0', credential, 'refused');
  await expect(gate.admit('fw0', credential)).rejects.toBeInstanceOf(CredentialError);
});

test('another credential has its own state', async () => {
  const gate = new CredentialGate();
  await askAll(gate, TEN, 'refused').outcomes;
  await expect(gate.admit('fw5', Credential.basic('admin', 'other'))).resolves.toBeUndefined();
});

test('a new command may try again what was refused before', async () => {
  const gate = new CredentialGate();
  await askAll(gate, TEN, 'refused').outcomes;
  await expect(gate.admit('fw5', credential)).rejects.toThrow(CredentialError);
  gate.forgetRefusals();
  await expect(gate.admit('fw5', credential)).resolves.toBeUndefined();
});

test('a device that refused it does not get it again until the next command', async () => {
  const gate = new CredentialGate();
  await gate.admit('fw0', credential);
  gate.settle('fw0', credential, 'refused');
  await expect(gate.admit('fw0', credential)).rejects.toThrow(
    'fw0: the login of admin was not tried again, because fw0 refused it',
  );
  await gate.admit('fw1', credential);
  gate.settle('fw1', credential, 'accepted');
  await expect(gate.admit('fw0', credential)).rejects.toThrow(CredentialError);
  gate.forgetRefusals();
  await expect(gate.admit('fw0', credential)).resolves.toBeUndefined();
});
