import { expect, test } from 'vitest';
import { journalLine } from '../../src/change/journal.ts';
import { parseJournal } from '../../src/change/read-journal.ts';

const HEAD = journalLine({
  kind: 'run',
  run: '20261121-093041-k3qd7m',
  at: '2026-11-21T09:30:41.000Z',
  command: 'user add username=zoe',
  by: 'ann@desk',
  version: '1.0.0',
});

test.each(['', HEAD.slice(0, 3), HEAD.slice(0, 60), HEAD.slice(0, -1)])(
  'a run that ended while its first line was written has sent nothing: %j',
  (text) => {
    expect(() => parseJournal(text, 'j')).toThrow('its run sent nothing');
  },
);

test.each(['garbage', '\0\0\0\0', '\u{fffd}PNG', '{"a":1}', 'garbage\n', '\0\0\n'])(
  'a journal of garbage cannot be read: %j',
  (text) => {
    expect(() => parseJournal(text, 'j')).toThrow(/not a journal|damaged line/);
  },
);

test('a step that was sent and settled later keeps when it was sent', () => {
  const ref = { device: 'fw1', index: 0 };
  const device = { name: 'fw1', address: '10.0.0.5:443' };
  const about = { resource: 'user', key: 'zoe', action: 'add' as const };
  const step = {
    ...about,
    ...{ keyField: 'username', asked: { username: 'zoe' }, effects: {} },
    request: { method: 'POST' as const, path: '/api/user/' },
  };
  const at = (second: number): string => `2026-11-21T09:30:${second}.000Z`;
  const lines = [
    journalLine({ kind: 'device', plan: { device, steps: [step], settled: [] } }),
    journalLine({ kind: 'send', ref, at: at(42) }),
    journalLine({
      ...{ kind: 'verdict', ref, at: at(44) },
      result: { device, ...about, verdict: 'unknown' },
    }),
    journalLine({ kind: 'resume', at: at(50), by: 'ann@desk' }),
    journalLine({
      ...{ kind: 'verdict', ref, at: at(52) },
      result: { device, ...about, verdict: 'done', isByReading: true },
    }),
  ];
  expect(parseJournal(HEAD + lines.join(''), 'j').states.get('fw1')).toMatchObject([
    { at: at(52), sentAt: at(42), result: { verdict: 'done', isByReading: true } },
  ]);
});

test.each(['notes', 'note', 'result', 'settled', 'error', '__proto__'])(
  'a plan with a field or a resource of the name %s is written and read',
  (name) => {
    const device = { name: 'fw1', address: '10.0.0.5:443' };
    const step = {
      ...{ resource: name, key: 'zoe', action: 'add' as const, keyField: 'username' },
      ...{ asked: { username: 'zoe', [name]: 'x' }, after: { username: 'zoe', [name]: 'x' } },
      effects: { filled: { [name]: 'most common here' } },
      request: { method: 'POST' as const, path: '/api/user/', form: [[name, 'x'] as const] },
    };
    const plan = { device, steps: [step], settled: [], total: { [name]: 3 } };
    const run = parseJournal(HEAD + journalLine({ kind: 'device', plan }), 'j');
    expect(run.plan.devices[0]?.steps[0]?.effects.filled).toEqual({ [name]: 'most common here' });
    expect(run.plan.devices[0]?.total).toEqual({ [name]: 3 });
  },
);

test('the notes of a result are one text in its journal', () => {
  const device = { name: 'fw1', address: '10.0.0.5:443' };
  const about = { device, resource: 'user', key: 'zoe', action: 'add' as const };
  const notes = [
    { code: 'seen', is: 'lost' },
    { code: 'seen', is: 'shown' },
  ] as const;
  const settled = [{ ...about, verdict: 'unchanged' as const, notes }];
  const line = journalLine({ kind: 'device', plan: { device, steps: [], settled } });
  expect(line).toContain('"note":"the response was lost; read-back shows it"');
  expect(parseJournal(HEAD + line, 'j').plan.devices[0]?.settled[0]?.notes).toEqual([
    'the response was lost; read-back shows it',
  ]);
});
