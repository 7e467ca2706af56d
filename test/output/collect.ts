import type { DeviceRecord, DeviceRef } from '../../src/device/record.ts';
import { UnreachableError } from '../../src/device/errors.ts';
import type { DevshError } from '../../src/errors.ts';
import { csvWriter } from '../../src/output/csv-writer.ts';
import { quickWriter } from '../../src/output/quick-writer.ts';
import { yamlWriter } from '../../src/output/yaml-writer.ts';
import type { Streams, Writer } from '../../src/output/streams.ts';
import type { Format } from '../../src/shell/grammar/options.ts';
import type { Output, ReadOutput, View } from '../../src/shell/output.ts';

export const fw1: DeviceRef = { name: 'fw1', address: '10.0.0.5:443' };
export const fw2: DeviceRef = { name: 'fw2', address: '10.0.0.6:443' };
export const fw3: DeviceRef = { name: 'fw3', address: '10.0.0.7:443' };
export const unreachable = new UnreachableError(fw3, 'no answer within 5 s');

export const users: View = {
  resource: 'user',
  layout: 'table',
  key: 'username',
  fold: true,
  perDevice: ['uuid'],
};

export function read(
  device: DeviceRef,
  answer: readonly DeviceRecord[] | DevshError,
  view: Partial<View> = {},
): ReadOutput {
  const outcome = Array.isArray(answer)
    ? { ok: true as const, records: answer as readonly DeviceRecord[] }
    : { ok: false as const, error: answer as DevshError };
  return { kind: 'read', view: { ...users, ...view }, device, outcome };
}

export interface Collected {
  readonly out: string;
  readonly err: string;
}

interface Ended {
  readonly error?: DevshError;
  /** After each output. */
  readonly onWritten?: () => void;
}

/** What a writer says to one command's outputs. */
export function write(
  format: Format,
  outputs: readonly Output[],
  { error, onWritten, ...streams }: Partial<Streams> & Ended = {},
): Collected {
  let out = '';
  let err = '';
  const makeWriter = makerOf(format);
  const writer = makeWriter({
    out: (text) => (out += text),
    err: (text) => (err += text),
    isTty: false,
    isErrTty: false,
    columns: 80,
    color: false,
    quiet: false,
    ...streams,
  });
  for (const output of outputs) {
    writer.write(output);
    onWritten?.();
  }
  writer.end(error);
  return { out, err };
}

function makerOf(format: Format): (streams: Streams) => Writer {
  if (format === 'csv') return csvWriter;
  if (format === 'yaml') return yamlWriter;
  return (streams) => quickWriter(format, streams);
}
