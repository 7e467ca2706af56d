import { expect, test } from 'vitest';
import type { Plan, Step } from '../../../src/change/plan.ts';
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
import { contention } from '../../contention.ts';

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

function elapsedMs(work: () => void): number {
  const startedAt = performance.now();
  work();
  return performance.now() - startedAt;
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

test('a key takes no longer where 20,000 devices have failed', () => {
  const devices = Array.from({ length: 20_000 }, (_, index) =>
    failed(`fw${index + 1}`, `reason ${index}`),
  );
  const state = stateWith(devices);
  layoutOf(state);
  const keys = (): void => {
    for (let key = 0; key < 100; key += 1) {
      const moved = after(state, { kind: 'view', action: key % 2 === 0 ? 'down' : 'up' });
      fleetStrip(moved);
      layoutOf(moved);
    }
  };
  expect(elapsedMs(keys)).toBeLessThan(1000 * contention());
});

test('a key takes no longer under a message of a megabyte', () => {
  const line: LogLine = { tone: 'quiet', text: `› user delete ${'anna '.repeat(200_000)}` };
  const state = after(stateWith([]), { kind: 'log', lines: [line] });
  layoutOf(state);
  const keys = (): void => {
    for (let key = 0; key < 100; key += 1) {
      layoutOf(after(state, { kind: 'edit', key: { kind: 'insert', text: 'x' } }));
    }
  };
  expect(elapsedMs(keys)).toBeLessThan(1000 * contention());
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
  const lines = layoutOf(state).question.map(({ text }) => text);
  expect(lines.join('\n')).toContain('1 to delete');
  expect(lines.join('\n')).toContain('Type y to do it:');
});

test('a question is whole at its end on a small screen, and what it is about can be scrolled', () => {
  const key = 'k'.repeat(65_536);
  const text = `delete user ${key} on fw1? Type y to do it:`;
  const state = asked([key, 'bob'], text, { columns: 40, rows: 10 });
  const lines = layoutOf(state).question.map((line) => line.text);
  expect(lines.at(-1)).toContain('Type y to do it:');
  expect(lines).toContainEqual(expect.stringContaining('scroll'));
});
