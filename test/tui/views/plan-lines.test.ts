import { expect, test } from 'vitest';
import type { DevicePlan } from '../../../src/change/plan.ts';
import type { StepResult } from '../../../src/change/verdict.ts';
import { unreachable } from '../../output/collect.ts';
import { textOfLine } from '../../../src/tui/screen/theme.ts';
import { foldResults, planView } from '../../../src/tui/views/plan-lines.ts';

function noEffect(name: string): StepResult {
  return {
    device: { name, address: `${name}.example:443` },
    ...{ resource: 'user', key: 'bob', action: 'set', verdict: 'no effect' },
    note: `nothing changed; "profile set ${name} update=put" states another way`,
  };
}

test('results whose reasons differ only in the name of their device are one line', () => {
  const names = Array.from({ length: 20 }, (_, index) => `fw${index + 1}`);
  expect(foldResults(names.map(noEffect)).map(({ text }) => text)).toEqual([
    '✗ set user bob: no effect on fw1, fw2, fw3 and 17 more - ' +
      'nothing changed; "profile set DEVICE update=put" states another way',
  ]);
});

test('the reason of one device keeps its name, so that its command can be copied', () => {
  expect(foldResults([noEffect('fw1')])[0]?.text).toContain('"profile set fw1 update=put"');
});

test('a plan says each fact once: devices of a delete in full, a doubt about all of them by their number', () => {
  const devices = Array.from({ length: 8 }, (_, index): DevicePlan => {
    const device = { name: `fw${index + 1}`, address: `fw${index + 1}:443` };
    if (index === 2) return { device, steps: [], settled: [], error: unreachable };
    const { action, resource, key } = { action: 'delete', resource: 'user', key: 'bob' } as const;
    const request = { method: 'DELETE', path: `/api/user/${index}/` } as const;
    const step = { action, resource, key, keyField: 'username', request, asked: {}, filled: {} };
    const way = 'DELETE /api/user/ID/';
    return { device, steps: [step], settled: [], assumed: [{ action, resource, way }] };
  });
  const { title, folded, warnings } = planView({ run: 'r1', devices });
  expect([
    title,
    ...folded(80).map((line) => textOfLine(line).trimEnd()),
    ...warnings.map(({ text }) => text),
  ]).toEqual([
    '7 to delete',
    '- delete user bob  fw1, fw2, fw4, fw5, fw6, fw7, fw8',
    '✗ not reached: fw3 - no answer within 5 s',
    '! devsh assumes, without documentation: delete user by DELETE /api/user/ID/ on all 7',
  ]);
});
