import { onTestFinished } from 'vitest';
import { startSimulator, type SimulatedDevice, type SimulatorOptions } from './simulator.ts';
import { ask, type Question } from './ask.ts';

/** One device for one test; closed at its end. */
export async function startDevice(options: SimulatorOptions): Promise<SimulatedDevice> {
  const simulator = await startSimulator({ users: 25, ...options });
  onTestFinished(() => simulator.close());
  const [device] = simulator.devices;
  if (device === undefined) throw new Error('no device');
  return device;
}

export interface JsonAnswer {
  readonly status: number;
  readonly allow: string | undefined;
  /** Undefined for an empty body. */
  readonly value: unknown;
}

/** Asks with a body in JSON, when there is one, and reads JSON. */
export async function askJson(
  device: SimulatedDevice,
  method: string,
  path: string,
  json?: unknown,
  more: Question = {},
): Promise<JsonAnswer> {
  const body = json === undefined ? {} : { body: JSON.stringify(json) };
  const headers = json === undefined ? {} : { 'Content-Type': 'application/json' };
  const answer = await ask(device, { method, path, ...body, headers, ...more });
  return {
    status: answer.status,
    allow: answer.headers.allow,
    value: answer.body === '' ? undefined : (JSON.parse(answer.body) as unknown),
  };
}
