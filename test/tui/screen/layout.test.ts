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

test('a message that does not fit shows its start, and where the rest is', () => {
  const text = `error: fw1: ${'the device refuses the certificate of its own CA '.repeat(4)}at last`;
  const log = (state: State, ...texts: readonly string[]): State =>
    after(state, { kind: 'log', lines: texts.map((one): LogLine => ({ tone: 'bad', text: one })) });
  const records = Array.from({ length: 9 }, (_, at) => user(`u${at}`));
  const full = stateOf({ fw0: records }, { columns: 40, rows: 10 });
  expect(messages(log(full, text))).toEqual([
    'error: fw1: the device refuses the',
    '  certificate of its own CA … (m: all)',
  ]);
  expect(messages(log(full, text, 'did you mean fw2?'))).toEqual(['did you mean fw2? (m: all)']);
  expect(messages(log(stateOf({ fw0: records }), text)).join(' ')).toContain('at last');
});

test('below a full table one message is in sight, the newest, and a sign if there are more', () => {
  const tones = ['plain', 'heading', 'good', 'bad', 'warning', 'quiet'] as const;
  const line = fc.record({
    tone: fc.constantFrom(...tones),
    text: fc.string({ unit: fc.constantFrom('a', ' ', 'b', '田'), minLength: 1, maxLength: 9 }),
  });
  const users = Array.from({ length: 30 }, (_, index) => user(`user${index}`));
  fc.assert(
    fc.property(fc.array(line, { minLength: 1, maxLength: 40 }), (lines) => {
      const said = lines.map((one) => ({ kind: 'log', lines: [one] }) as const);
      const texts = lines.map(({ text }) => text);
      const rest = new Set(texts).size > 1 ? ' (m: all)' : '';
      expect(messages(after(stateOf({ fw0: users }), ...said))).toEqual([`${texts.at(-1)}${rest}`]);
      // Rows that nothing else needs are free, and what is said again stands once.
      const few = messages(after(stateOf({ fw0: users.slice(0, 2) }), ...said));
      const last = [...new Set(texts.toReversed())].slice(0, few.length).toReversed();
      expect(few.map((text) => text.replace(/ \(m: all\)$/, ''))).toEqual(last);
    }),
  );
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
    return { ...common, key, before: { username: key }, asked: {}, effects: {}, request };
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
