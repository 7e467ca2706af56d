import { describe, expect, test } from 'vitest';
import { driftOf } from '../../../src/fleet/drift.ts';
import { shownHints } from '../../../src/tui/screen/bar-lines.ts';
import type { Overlay, State } from '../../../src/tui/state.ts';
import { after, RUN, stateOf, user } from '../table/table-fixture.ts';

const RECORDS = { fw1: [user('alice')], fw2: [user('alice', 'de')] };

const DRIFT = {
  kind: 'drift',
  resource: 'user',
  perDevice: ['uuid'],
  drift: driftOf(
    Object.entries(RECORDS).map(([name, records]) => ({
      device: { name, address: `${name}:443` },
      records,
    })),
    { keyField: 'username', perDevice: ['uuid'] },
  ),
} as const;

const VIEWS: Readonly<Record<string, Overlay>> = {
  devices: { kind: 'devices', cursor: 0 },
  drift: {
    kind: 'drift',
    command: 'user list --drift',
    filter: '',
    output: DRIFT,
    cursor: 0,
    device: 0,
    isWhole: false,
  },
  resources: { kind: 'resources', resources: [{ resource: 'user', devices: ['fw1'] }], cursor: 0 },
  runs: { kind: 'runs', runs: [RUN], cursor: 0 },
  help: { kind: 'help', top: 0 },
};

function footer(columns: number, overlay?: Overlay): string {
  const table = { ...stateOf(RECORDS, { columns, rows: 10 }), focus: 'table' } satisfies State;
  const state = overlay === undefined ? table : after(table, { kind: 'view-over', overlay });
  return shownHints(state, columns - 1)
    .map(({ text }) => text)
    .join(' · ');
}

describe('every view names the key for help, and the prompt where there is room', () => {
  test('on 80 columns', () => {
    const lines = Object.entries(VIEWS).map(([name, overlay]) => `${name}: ${footer(80, overlay)}`);
    expect([`table: ${footer(80)}`, ...lines].join('\n')).toMatchInlineSnapshot(`
      "table: : prompt · enter details · / filter · ? help · a add · e edit · q leave
      devices: enter open · esc back or q · r connect · x disconnect · / search · ? help
      drift: enter details · (= make alike) · esc back or q · f all · → device · ? help
      resources: enter open · esc back or q · / search · : prompt · ? help
      runs: enter show · esc back or q · r resume · / search · u undo · : prompt · ? help
      help: esc back or q · ↓ scroll · pgdn page · / search · : prompt · ? help"
    `);
  });

  test('on 40 columns', () => {
    const lines = Object.entries(VIEWS).map(([name, overlay]) => `${name}: ${footer(40, overlay)}`);
    expect([`table: ${footer(40)}`, ...lines].join('\n')).toMatchInlineSnapshot(`
      "table: : prompt · ? help · q leave
      devices: enter open · esc back or q · ? help
      drift: enter details · esc back or q · ? help
      resources: enter open · esc back or q · ? help
      runs: enter show · esc back or q · ? help
      help: esc back or q · ↓ scroll · ? help"
    `);
  });
});
