import fc from 'fast-check';
import { questionLines } from '../box-lines.ts';
import { countComputing } from '../../contention.ts';
import { expect, test } from 'vitest';
import type { Plan } from '../../../src/change/plan.ts';
import { UnreachableError } from '../../../src/device/errors.ts';
import { reduce } from '../../../src/tui/reduce.ts';
import { initialState } from '../../../src/tui/initial-state.ts';
import { fleetStrip } from '../../../src/tui/screen/fleet-strip.ts';
import { layoutOf } from '../../../src/tui/screen/layout.ts';
import type { DeviceTab, LogLine, State } from '../../../src/tui/state.ts';
import { Questions } from '../../../src/tui/questions.ts';
import { Store } from '../../../src/tui/store.ts';
import type { Size } from '../../../src/tui/terminal/painter.ts';
import { planView } from '../../../src/tui/views/plan-lines.ts';
import { after, stateOf, user } from '../table/table-fixture.ts';
import type { Step } from '../../../src/change/step.ts';

function failed(name: string, why: string): DeviceTab {
  const address = `${name}.example:443`;
  const error = new UnreachableError({ name, address }, why.replace('ADDRESS', address));
  return { name, address, kind: 'failed', error };
}

/** The table of fw0 with other devices beside it that failed. */
function stateWith(others: readonly DeviceTab[], size = { columns: 80, rows: 24 }): State {
  const state = stateOf({ fw0: [user('bob')] }, size);
  const devices = [...state.fleet.devices, ...others];
  const selected = devices.map(({ name }) => name);
  return after(state, { kind: 'fleet', fleet: { ...state.fleet, devices, selected } });
}

function messages(state: State): string[] {
  return layoutOf(state).messages.map(({ text }) => text);
}

test('devices that failed for the same cause are one line with their names', () => {
  const down = ['fw1', 'fw2', 'fw3', 'fw4', 'fw5'].map((name) =>
    failed(name, 'ADDRESS refuses the connection'),
  );
  expect(messages(stateWith([...down, failed('fw9', 'no answer within 5 s')]))).toEqual([
    '✗ fw1, fw2, fw3 +2: the device refuses the connection',
    '✗ fw9: no answer within 5 s',
  ]);
});

test('a message that does not fit shows its start, and where the rest is', () => {
  const text = `error: fw1: ${'the device refuses the certificate of its own CA '.repeat(4)}at last`;
  const log = (state: State, ...texts: readonly string[]): State =>
    after(state, { kind: 'log', lines: texts.map((one): LogLine => ({ tone: 'bad', text: one })) });
  const small = { columns: 40, rows: 10 };
  const records = Array.from({ length: 9 }, (_, at) => user(`u${at}`));
  const full = stateOf({ fw0: records }, small);
  expect(messages(log(full, text))).toEqual([
    'error: fw1: the device refuses the',
    '  certificate of its own CA the device',
    '  refuses the c… (m in the table: all)',
  ]);
  // Two hints behind it leave one row.
  expect(messages(log(full, text, 'did you mean fw2?', 'or fw3?'))).toEqual([
    'error: fw1: the device refuses the …',
    'did you mean fw2?',
    'or fw3?',
  ]);
  expect(messages(log(stateOf({ fw0: records }), text)).join(' ')).toContain('at last');
});

test('a cause that only one device has keeps its words', () => {
  const why = 'the login was refused. Try "login fw1"';
  expect(messages(stateWith([failed('fw1', why)]))).toEqual([`✗ fw1: ${why}`]);
  const both = ['fw1', 'fw2'].map((name) => failed(name, why.replace('fw1', name)));
  expect(messages(stateWith(both))).toEqual([
    '✗ fw1, fw2: the login was refused. Try "login DEVICE"',
  ]);
  const unnamed = ['10.0.0.1:443', '10.0.0.2:443'].map((name) => {
    const error = new UnreachableError({ name, address: name }, `"trust scan ${name}" shows it`);
    return { name, address: name, kind: 'failed' as const, error };
  });
  expect(messages(stateWith(unnamed))).toEqual([
    '✗ 10.0.0.1:443, 10.0.0.2:443: "trust scan DEVICE" shows it',
  ]);
});

/** The messages below the table, after a run on fw0 with standing failures beside it. */
function afterRun(size: Size): string[] {
  const down = [failed('fw1', 'ADDRESS refuses it'), failed('fw2', 'no answer within 5 s')];
  const lines: LogLine[] = [
    { tone: 'bad', text: '✗ set user bob: failed on fw0 - refused' },
    { tone: 'bad', text: '✗ set user bob: failed on fw3 - lost' },
    { tone: 'heading', text: '2 failed · pending on fw3' },
    { tone: 'plain', text: 'pending: "resume" makes the change later' },
  ];
  const state = stateWith(down, size);
  const users = Array.from({ length: 30 }, (_, index) => user(`user${index}`));
  const table = stateOf({ fw0: users }, size).table;
  return messages(after({ ...state, table }, { kind: 'log', lines }));
}

test('the verdicts of a run have precedence over devices that failed before', () => {
  expect(afterRun({ columns: 80, rows: 24 })).toEqual([
    '✗ fw1: fw1.example:443 refuses it',
    '✗ fw2: no answer within 5 s',
    '✗ set user bob: failed on fw0 - refused',
    '✗ set user bob: failed on fw3 - lost',
    '2 failed · pending on fw3',
    'pending: "resume" makes the change later',
  ]);
  expect(afterRun({ columns: 80, rows: 20 })[0]).toBe('✗ fw1: fw1.example:443 refuses it');
  expect(afterRun({ columns: 80, rows: 20 })).toContain('✗ set user bob: failed on fw0 - refused');
});

test('on the smallest screen the count and what is left to do stay, and each line begins at its start', () => {
  expect(afterRun({ columns: 40, rows: 10 })).toEqual([
    '2 failed · pending on fw3',
    'pending: "resume" makes the change',
    '  later',
  ]);
});

test('whatever is said, the newest of it is in sight, and what is said again stands once', () => {
  const tones = ['plain', 'heading', 'good', 'bad', 'warning', 'quiet'] as const;
  const line = fc.record({
    tone: fc.constantFrom(...tones),
    text: fc.string({ unit: fc.constantFrom('a', ' ', 'b', '田'), minLength: 1, maxLength: 9 }),
  });
  const users = Array.from({ length: 30 }, (_, index) => user(`user${index}`));
  fc.assert(
    fc.property(fc.array(line, { minLength: 1, maxLength: 40 }), (lines) => {
      const said = lines.map((one) => ({ kind: 'log', lines: [one] }) as const);
      const shown = messages(after(stateOf({ fw0: users }), ...said));
      expect(shown.at(-1)).toBe(lines.at(-1)?.text);
      expect(new Set(shown).size).toBe(shown.length);
      const last = [...new Set(lines.map(({ text }) => text).toReversed())].slice(0, shown.length);
      expect(shown).toEqual(last.toReversed());
    }),
  );
});

test('a failure that the last line has reported is not repeated', () => {
  const state = stateWith([failed('fw1', 'ADDRESS refuses it')]);
  const [text = ''] = messages(state);
  expect(messages(after(state, { kind: 'log', lines: [{ tone: 'bad', text }] }))).toEqual([text]);
});

test('a key takes no longer where 20,000 devices have failed', () => {
  const devices = Array.from({ length: 20_000 }, (_, index) =>
    failed(`fw${index + 1}`, `reason ${index}`),
  );
  const state = stateWith(devices);
  layoutOf(state);
  const computedMs = countComputing();
  for (let key = 0; key < 100; key += 1) {
    const moved = after(state, { kind: 'view', action: key % 2 === 0 ? 'down' : 'up' });
    fleetStrip(moved);
    layoutOf(moved);
  }
  expect(computedMs()).toBeLessThan(2_000);
});

test('a key takes no longer under a message of a megabyte', () => {
  const line: LogLine = { tone: 'quiet', text: `› user delete ${'anna '.repeat(200_000)}` };
  const state = after(stateWith([]), { kind: 'log', lines: [line] });
  layoutOf(state);
  const computedMs = countComputing();
  for (let key = 0; key < 100; key += 1) {
    layoutOf(after(state, { kind: 'edit', key: { kind: 'insert', text: 'x' } }));
  }
  expect(computedMs()).toBeLessThan(2_000);
});

function planOf(keys: readonly string[]): Plan {
  const device = { name: 'fw1', address: 'fw1.example:443' };
  const request = { method: 'DELETE', path: '/api/user/1/' } as const;
  const steps = keys.map((key): Step => {
    const common = { action: 'delete', resource: 'user', keyField: 'username' } as const;
    return { ...common, key, before: { username: key }, asked: {}, filled: {}, request };
  });
  return { run: 'r', devices: [{ device, steps, settled: [] }] };
}

function asked(keys: readonly string[], text: string, size: Size): State {
  const store = new Store(initialState(size), reduce);
  void new Questions(store).ask({ kind: 'confirm', text, expected: 'y' }, planView(planOf(keys)));
  return store.state;
}

test.each([
  { columns: 80, rows: 24 },
  { columns: 200, rows: 50 },
])('a key of 64 KB leaves the count of a plan in sight ($columns x $rows)', (size) => {
  const key = 'k'.repeat(65_536);
  const state = asked([key], `delete user ${key} on fw1? Type y to do it:`, size);
  const lines = questionLines(state);
  expect(lines.join(' ')).toContain('1 to delete');
  expect(lines.join(' ')).toContain('Type y to do it:');
});

test('a question is whole at its end on a small screen, and what it is about can be scrolled', () => {
  const key = 'k'.repeat(65_536);
  const text = `delete user ${key} on fw1? Type y to do it:`;
  const state = asked([key, 'bob'], text, { columns: 40, rows: 10 });
  const lines = questionLines(state);
  expect(lines.at(-1)).toContain('Type y to do it:');
  expect(lines).toContainEqual(expect.stringContaining('scroll'));
});
