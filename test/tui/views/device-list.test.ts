import { expect, test } from 'vitest';
import { reduce } from '../../../src/tui/reduce.ts';
import { initialState } from '../../../src/tui/initial-state.ts';
import type { DeviceTab, State } from '../../../src/tui/state.ts';
import { KEYMAP } from '../../../src/tui/keys/default-keymap.ts';
import { deviceLines } from '../../../src/tui/views/devices.ts';

function stateWith(kind: DeviceTab['kind']): State {
  const state = initialState({ columns: 80, rows: 24 }, KEYMAP);
  const devices = [{ name: 'fw1', address: '10.0.0.5:443', kind, error: undefined }];
  const known = reduce(state, { kind: 'fleet', fleet: { ...state.fleet, devices } });
  const texts = new Map([['10.0.0.5:443', '41 users yesterday 17:02']]);
  return reduce(known, { kind: 'last-seen', texts });
}

function deviceListOf(state: State) {
  return deviceLines(state, state.fleet.devices, 80);
}

test.each(['new', 'connecting', 'failed'] as const)(
  'what a device held before stands beside it while it is %s',
  (kind) => {
    const { header, lines } = deviceListOf(stateWith(kind));
    expect(header).toContain('LAST SEEN');
    expect(lines[0]).toContain('41 users yesterday 17:02');
  },
);

test('it is gone once the device has responded', () => {
  const { header, lines } = deviceListOf(stateWith('ready'));
  expect(header).not.toContain('LAST SEEN');
  expect(lines[0]).not.toContain('41 users');
});
