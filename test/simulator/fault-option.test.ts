import { expect, onTestFinished, test } from 'vitest';
import { SimulatorError, type SimulatorOptions, startSimulator } from './simulator.ts';
import { ask } from './ask.ts';

async function statuses(faults: SimulatorOptions['faults']): Promise<(number | undefined)[]> {
  const simulator = await startSimulator({ devices: 2, users: 4, faults });
  onTestFinished(() => simulator.close());
  const answers = await Promise.all(simulator.devices.map((device) => ask(device)));
  return answers.map(({ status }) => status);
}

test.each([
  ['403', [403, 403]],
  ['*:403', [403, 403]],
  ['sim2:403', [200, 403]],
] as const)('the fault %s strikes who it is for', async (fault, expected) => {
  expect(await statuses([fault])).toEqual(expected);
});

test.each([
  ['sim2:silent', 'there is no fault "silent"'],
  ['sim9:403', "no simulated device 'sim9'; they are called sim1 to sim2"],
])('the fault %s is refused', async (fault, message) => {
  const started = statuses([fault] as unknown as SimulatorOptions['faults']);
  await expect(started).rejects.toThrow(SimulatorError);
  await expect(started).rejects.toThrow(message);
});

test('what there is not is named beside what there is', async () => {
  const started = startSimulator({ profile: 'drff' } as unknown as SimulatorOptions);
  await expect(started).rejects.toThrow(
    'there is no profile "drff"; there are documented, drf, generic-rest, form-action',
  );
});
