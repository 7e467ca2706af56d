import { expect, test } from 'vitest';
import type { DevicePlan } from '../../../src/change/plan.ts';
import { unreachable } from '../../output/collect.ts';
import { textOfLine } from '../../../src/tui/screen/theme.ts';
import { planTextLines, planView } from '../../../src/tui/views/plan-lines.ts';

test('a plan says each fact once: devices of a delete in full, a doubt about all of them by their number', () => {
  const devices = Array.from({ length: 8 }, (_, index): DevicePlan => {
    const device = { name: `fw${index + 1}`, address: `fw${index + 1}:443` };
    if (index === 2) return { device, steps: [], settled: [], error: unreachable };
    const { action, resource, key } = { action: 'delete', resource: 'user', key: 'bob' } as const;
    const request = { method: 'DELETE', path: `/api/user/${index}/` } as const;
    const step = { action, resource, key, keyField: 'username', request, asked: {}, effects: {} };
    const way = 'DELETE /api/user/ID/';
    return { device, steps: [step], settled: [], assumed: [{ action, resource, way }] };
  });
  const { title, folded } = planView({ run: 'r1', devices });
  expect([title, ...planTextLines(folded, 90).map((line) => textOfLine(line).trimEnd())]).toEqual([
    '7 to delete',
    '- delete user bob  fw1, fw2, fw4, fw5, fw6, fw7, fw8',
    '✗ not reached: fw3 - no answer within 5 s',
    '! devsh assumes, without documentation: delete user by DELETE /api/user/ID/ on all 7',
  ]);
});
