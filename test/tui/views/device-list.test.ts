import { expect, test } from 'vitest';
import { reduce } from '../../../src/tui/reduce.ts';
import { initialState } from '../../../src/tui/initial-state.ts';
import type { DeviceTab, State } from '../../../src/tui/state.ts';
import { KEYMAP } from '../../../src/tui/keys/default-keymap.ts';
import { fleetStrip } from '../../../src/tui/screen/fleet-strip.ts';
import { DEVICES } from '../../../src/tui/views/devices.ts';
import { columnLines } from './list-rows.ts';

function stateWith(kind: DeviceTab['kind']): State {
  const state = initialState({ columns: 80, rows: 24 }, KEYMAP);
  const devices = [{ name: 'fw1', address: '10.0.0.5:443', kind, error: undefined }];
  return reduce(state, { kind: 'fleet', fleet: { ...state.fleet, devices } });
}

function deviceListOf(state: State) {
  const list = DEVICES.list({ kind: 'devices', cursor: 0 }, state);
  const [header, ...lines] = columnLines(list.rows, list.columns);
  return { header, lines };
}

test('a device with pending changes shows how many, and O continues them', () => {
  const state = { ...stateWith('ready'), overlay: { kind: 'devices', cursor: 0 } as const };
  const resume = KEYMAP.find(({ action }) => action === 'resume-device');
  expect(deviceListOf(state).header).not.toContain('PENDING');
  expect(textOf(fleetStrip(state))).not.toContain('pending');
  expect(resume?.disabled?.(state)).toBe('nothing is pending on this device');

  const waiting = reduce(state, { kind: 'facts', facts: { pending: new Map([['fw1', 2]]) } });
  expect(deviceListOf(waiting).header).toContain('PENDING');
  expect(deviceListOf(waiting).lines[0]).toMatch(/connected +2 /);
  expect(resume?.disabled?.(waiting)).toBeUndefined();
  expect(resume?.run?.(waiting, 0)).toBe('resume --on fw1');
});

test.each([120, 80, 40, 20])('the top line of %i columns says what is pending', (columns) => {
  const waiting = reduce(stateWith('failed'), {
    kind: 'facts',
    facts: { pending: new Map([['fw1', 2]]) },
  });
  const narrow = reduce(waiting, { kind: 'facts', facts: { size: { columns, rows: 10 } } });
  expect(textOf(fleetStrip(narrow))).toContain('pending 2');
});

function textOf(spans: readonly { readonly text: string }[]): string {
  return spans.map(({ text }) => text).join('');
}
