import { expect, test } from 'vitest';
import type { StepResult, Verdict } from '../../src/change/verdict.ts';
import { UnauthorizedError, UnreachableError } from '../../src/device/errors.ts';
import { RefusedError, type DevshError } from '../../src/errors.ts';
import { ExitCode, type Output, type ReadOutput } from '../../src/shell/output.ts';

const device = { name: 'fw1', address: '10.0.0.5:443' };
const down = new UnreachableError(device, 'no answer');
const denied = new UnauthorizedError(device, 'wrong password', 401);

function read(error?: DevshError): ReadOutput {
  const view = { resource: 'user', layout: 'table', fold: true, perDevice: [] } as const;
  return {
    kind: 'read',
    view,
    device,
    outcome: error ? { ok: false, error } : { ok: true, records: [] },
  };
}

function result(verdict: Verdict, error?: DevshError): Output {
  const step: StepResult = { device, resource: 'user', key: 'bob', action: 'add', verdict };
  return { kind: 'result', run: 'r', result: error ? { ...step, error } : step };
}

const plan = (...errors: (DevshError | undefined)[]): Output => ({
  kind: 'plan',
  plan: {
    run: 'r',
    devices: errors.map((error) =>
      error
        ? { device, steps: [], settled: [], error }
        : {
            device,
            steps: [
              {
                action: 'delete',
                resource: 'user',
                key: 'bob',
                keyField: 'username',
                request: { method: 'DELETE', path: '/api/user/1/' },
                asked: {},
                effects: {},
              },
            ],
            settled: [],
          },
    ),
  },
});

test.each<[string, Output[], number]>([
  ['nothing said', [], 0],
  ['all read', [read(), read()], 0],
  ['one of two unreachable', [read(), read(down)], 3],
  ['all unreachable', [read(down), read(down)], 5],
  ['failures of different kinds', [read(down), read(denied)], 1],
  ['done and unchanged', [result('done'), result('unchanged')], 0],
  ['no effect', [result('no effect')], 1],
  ['failed for a reason', [result('failed', denied)], 4],
  ['done and failed', [result('done'), result('failed')], 3],
  ['drift', [result('drift')], 7],
  ['unknown beside failed', [result('unknown'), result('failed')], 3],
  ['done and skipped', [result('done'), result('skipped')], 3],
  ['drift, and nothing to do elsewhere', [result('drift'), result('unchanged')], 7],
  ['drift and done', [result('drift'), result('done')], 3],
  ['all skipped', [result('skipped')], 1],
  ['a dry run', [plan(undefined)], 0],
  ['a dry run with one device down', [plan(undefined, down)], 3],
  ['a plan whose only step failed', [plan(undefined), result('failed')], 1],
  ['done, but one device had no plan', [plan(undefined, down), result('done')], 3],
  ['a raw 404', [{ kind: 'answer', device, status: 404, body: '' }], 1],
])('%s', (_, outputs, expected) => {
  const code = new ExitCode();
  for (const output of outputs) code.add(output);
  expect(code.value).toBe(expected);
});

test('an error that ended the command decides alone', () => {
  const code = new ExitCode();
  code.add(read());
  code.addError(new RefusedError('needs --yes'));
  expect(code.value).toBe(6);
});
