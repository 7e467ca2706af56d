import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { UsageError } from '../../src/errors.ts';
import { parseFaultOption } from '../../src/simulator/faults.ts';
import { applyFault, startSimulator, type Simulator } from '../../src/simulator/simulator.ts';
import { ask } from './ask.ts';

let simulator: Simulator;
beforeEach(async () => {
  simulator = await startSimulator({ devices: 2, users: 4 });
});
afterEach(() => simulator.close());

describe('--fault DEVICE:NAME', () => {
  test('names a device and a fault', () => {
    expect(parseFaultOption('sim2:silence')).toEqual({ device: 'sim2', fault: 'silence' });
    expect(parseFaultOption('127.0.0.2:8443:500-once')).toEqual({
      device: '127.0.0.2:8443',
      fault: '500-once',
    });
  });

  test('an unknown fault is refused with suggestions', () => {
    const error = thrown(() => parseFaultOption('sim2:silent'));

    expect(error).toBeInstanceOf(UsageError);
    expect(error).toMatchObject({ suggestions: ['silence'] });
    expect((error as Error).message).toContain('devsh simulator faults');
  });

  test.each(['silence', ':silence', ''])('%j has no device', (text) => {
    expect(thrown(() => parseFaultOption(text))).toBeInstanceOf(UsageError);
  });

  test.each([
    ['sim2', ['sim2']],
    ['*', ['sim1', 'sim2']],
  ])('the device %s stands for %j', async (name, struck) => {
    applyFault(simulator, { device: name, fault: '403' });

    const answers = await Promise.all(
      simulator.devices.map(async (each) => ({ name: each.name, ...(await ask(each)) })),
    );
    const found = answers.filter(({ status }) => status === 403).map((answer) => answer.name);
    expect(found).toEqual(struck);
  });

  test('a device that is not there is refused', () => {
    const error = thrown(() => {
      applyFault(simulator, { device: 'sim9', fault: '403' });
    });

    expect(error).toBeInstanceOf(UsageError);
    expect((error as Error).message).toContain('sim1 to sim2');
  });
});

function thrown(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
}
