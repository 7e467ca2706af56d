import { renderToString } from 'ink';
import { createElement } from 'react';
import { describe, expect, test } from 'vitest';
import { type Drift, driftOf } from '../../../src/fleet/drift.ts';
import { widthOf } from '../../../src/text/visible.ts';
import type { ViewAction } from '../../../src/tui/keys/key-binding.ts';
import { KEYMAP } from '../../../src/tui/keys/default-keymap.ts';
import { layoutOf } from '../../../src/tui/screen/layout.ts';
import type { State } from '../../../src/tui/state.ts';
import { DRIFT, makeAlike } from '../../../src/tui/views/drift.ts';
import { DriftGrid } from '../../../src/tui/components/drift-grid.tsx';
import { GUTTER } from '../../../src/text/fit-columns.ts';
import { after, stateOf } from '../table/table-fixture.ts';

type Records = readonly Readonly<Record<string, string | number | boolean | string[]>>[];

function driftIn(
  devices: Readonly<Record<string, Records>>,
  unread: readonly string[] = [],
): Drift {
  const reads = Object.entries(devices).map(([name, records]) => ({
    device: { name, address: `${name}:443` },
    records,
  }));
  const refs = unread.map((name) => ({ name, address: `${name}:443` }));
  return driftOf(reads, { keyField: 'username', perDevice: ['uuid'] }, refs);
}

function shown(drift: Drift, size: State['size']): State {
  const command = 'user list --drift';
  const output = { kind: 'drift', resource: 'user', drift, perDevice: ['uuid'] } as const;
  const place = { command, filter: '', output, cursor: 0, device: 0, isWhole: false };
  const state = after(stateOf({}, size), {
    kind: 'view-over',
    overlay: { kind: 'drift', ...place },
  });
  return { ...state, focus: 'table' };
}

function press(state: State, ...actions: readonly ViewAction[]): State {
  return after(state, ...actions.map((action) => ({ kind: 'view', action }) as const));
}

/** The grid as it is drawn, without its gutter. */
function lines(state: State): readonly string[] {
  const { overlay, size } = state;
  if (overlay.kind !== 'drift') return [];
  const list = DRIFT.list(overlay, state);
  const grid = createElement(DriftGrid, {
    ...{ over: overlay, list, width: size.columns },
    height: list.rows.length + 1,
  });
  const drawn = renderToString(grid, { columns: size.columns });
  return drawn.split('\n').map((line) => line.slice(GUTTER).trimEnd());
}

const below = (state: State): readonly string[] => layoutOf(state).messages.map(({ text }) => text);

const bob = (lang: string) => ({ username: 'bob', uuid: `id-${lang}`, lang });
const ann = { username: 'ann', lang: 'en' };
const few = driftIn({ fw1: [ann, bob('de')], fw2: [ann, bob('en')], fw3: [ann, bob('de')] }, [
  'fw4',
]);

describe('the matrix', () => {
  test('has one sign for each device, and folds away what is the same', () => {
    const state = shown(few, { columns: 100, rows: 24 });
    expect([...lines(state), '', ...below(state)]).toMatchInlineSnapshot(`
      [
        "USERNAME   ▾fw1  fw2  fw3  fw4  DIFFERENCE",
        "bob         =    ≠    =    ?    lang differs: de on fw1, fw3, en on fw2",
        "",
        "bob on fw1: = same · lang de",
        "no majority: no value is on more than half of the devices, counting those not read",
        "differ: fw2 ▇ 1",
        "= same  ≠ differs  · missing",
      ]
    `);
    expect(lines(press(state, 'whole'))).toHaveLength(3);
  });

  test('fits 40 columns, also when nothing matches', () => {
    const state = shown(few, { columns: 40, rows: 10 });
    const line = { before: 'zz', after: '' };
    const find = { ...state.find, editing: { ...state.find.editing, line } };
    const [legend = ''] = below({ ...state, find });
    expect(legend).toBe('= same  ≠ differs  · missing');
    expect(widthOf(legend)).toBeLessThan(40);
  });

  test('shows 100 devices at 140 columns, and names the one under the cursor', () => {
    const names = Array.from({ length: 100 }, (_, at) => `fw${at + 1}`);
    const drift = driftIn(
      Object.fromEntries(names.map((name, at) => [name, at === 36 ? [bob('en')] : [bob('de')]])),
    );
    const state = shown(drift, { columns: 140, rows: 24 });
    const [header = '', row = ''] = lines(state);
    expect(row).toContain(`${'='.repeat(36)}≠${'='.repeat(63)}`);
    expect(header.indexOf('▾')).toBe(row.indexOf('='));
    const moved = press(state, ...Array.from({ length: 36 }, () => 'right' as const));
    expect(lines(moved)[0]?.indexOf('▾')).toBe(row.indexOf('≠'));
    expect(below(moved)[0]).toBe('bob on fw37: ≠ differs · lang en');
    expect(below(moved)[1]).toBe('= set bob lang=de on fw37');
  });

  test('of 300 devices it shows as many as leave room for the words', () => {
    const names = Array.from({ length: 300 }, (_, at) => `fw${at + 1}`);
    const drift = driftIn(
      Object.fromEntries(names.map((name, at) => [name, at === 249 ? [bob('en')] : []])),
    );
    const [header = '', row = ''] = lines(shown(drift, { columns: 120, rows: 35 }));
    expect(header).toMatch(/→2\d\d  DIFFERENCE$/);
    expect(row).toMatch(/·{60,} +only on fw250$/);
  });

  test('follows the device cursor where not all devices have room, and stays in the screen', () => {
    const names = Array.from({ length: 60 }, (_, at) => `fw${at + 1}`);
    const drift = driftIn(Object.fromEntries(names.map((name) => [name, [bob(name)]])));
    const state = shown(drift, { columns: 40, rows: 10 });
    expect(lines(state)[0]).toMatch(/→\d+$/);
    const last = press(state, ...names.map(() => 'right' as const));
    expect(below(last)[0]).toContain('bob on fw60');
    expect(lines(last)[0]).not.toContain('→');
    for (const line of [...lines(state), ...lines(last), ...below(last)])
      expect(widthOf(line)).toBeLessThanOrEqual(38);
  });
});

describe('= makes the odd one like the others', () => {
  const alike = (drift: Drift) => {
    const row = drift.rows.find(({ key }) => key !== 'ann');
    return row && makeAlike({ kind: 'drift', resource: 'user', drift, perDevice: ['uuid'] }, row);
  };
  const three = (one: Records, two: Records, other: Records, unread: readonly string[] = []) =>
    alike(driftIn({ fw1: one, fw2: two, fw3: other }, unread));

  test('by a plan on its devices alone', () => {
    const line = 'user set bob lang=de --on fw2';
    expect(three([bob('de')], [bob('en')], [bob('de')])).toMatchObject({ line });
    const dash = { username: '-b', lang: 'de', is_active: true };
    expect(three([dash], [{ ...dash, is_active: false }], [dash])).toMatchObject({
      line: 'user set --on fw2 -- -b is_active=true',
    });
  });

  test('not for a tie, nor while those not read could make it one', () => {
    const tie = alike(driftIn({ fw1: [bob('de')], fw2: [bob('en')] }));
    expect(tie?.reason).toContain('no majority');
    const unread = three([bob('de')], [bob('en')], [bob('de')], ['fw4']);
    expect(unread?.reason).toContain('counting those not read');
  });

  test('not for a record that is missing, is there twice or has no name', () => {
    expect(three([bob('de')], [], [bob('de')])?.reason).toContain('"=" adds nothing on fw2');
    const twice = three([bob('de'), bob('fr')], [bob('de')], [bob('de')]);
    expect(twice?.reason).toContain('more than once');
    const drift = driftIn({ fw1: [{ lang: 'de' }], fw2: [] });
    expect(alike(drift)?.reason).toContain('no name');
  });

  test('not for ids and secrets, which are no difference, nor for what a line cannot hold', () => {
    const secret = (password: string) => ({ ...bob('de'), password });
    expect(three([secret('a')], [secret('b')], [secret('a')])?.reason).toContain('the same');
    const list = (groups: string[]) => ({ username: 'bob', groups });
    const lists = three([list(['a'])], [list(['b'])], [list(['a'])]);
    expect(lists?.reason).toContain('groups');
    const control = three([bob('d\x1be')], [bob('en')], [bob('d\x1be')]);
    expect(control?.reason).toContain('lang');
    // Most devices have no such field: there is no value to give.
    const extra = { ...bob('de'), note: 'x' };
    expect(three([bob('de')], [extra], [bob('de')])?.reason).toContain('note');
  });

  test('never by a line in which the name of a field is an option or another field', () => {
    const named = (field: string) => {
      const holding = (value: string) => [{ username: 'bob', [field]: value }];
      return three(holding('x'), holding('y'), holding('x'));
    };
    for (const field of ['--allow', '-y', 'lang:', 'lang=x'])
      expect(named(field)?.reason).toContain(field);
    expect(named('a --yes b')).toMatchObject({
      line: "user set bob 'a --yes b=x' --on fw2",
    });
  });

  test('not on a read-only device, with the reason', () => {
    const state = shown(few, { columns: 100, rows: 24 });
    const readOnly = { ...state, fleet: { ...state.fleet, isReadOnly: true } };
    const binding = KEYMAP.find(({ action }) => action === 'make-alike');
    expect(binding?.disabled?.(readOnly)).toContain('read-only');
  });
});
