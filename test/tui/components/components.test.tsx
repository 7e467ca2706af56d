import fc from 'fast-check';
import { renderToString } from 'ink';
import { expect, test } from 'vitest';
import { Dialog, Form, Question } from '../../../src/tui/components/dialog.tsx';
import { Line, ThemeContext } from '../../../src/tui/components/line.tsx';
import { RecordTable } from '../../../src/tui/components/record-table.tsx';
import { formBox } from '../../../src/tui/form/form-view.ts';
import { createTheme, plainLine, type Tone } from '../../../src/tui/screen/theme.ts';
import { widthOf } from '../../../src/text/visible.ts';
import type { FormField } from '../../../src/shell/records/form-fields.ts';
import { after, stateOf, user } from '../table/table-fixture.ts';

const TONES: readonly Tone[] = ['plain', 'bad', 'warning', 'quiet', 'match'];
const texts = fc.string({ unit: fc.constantFrom('a', ' ', '田', 'é', '≠', '👩‍💻'), maxLength: 30 });
const line = fc.array(fc.record({ tone: fc.constantFrom(...TONES), text: texts }), {
  maxLength: 5,
});

test('a line has all its texts in their order, and is as wide as they are', () => {
  fc.assert(
    fc.property(line, (spans) => {
      const drawn = renderToString(<Line spans={spans} />, { columns: 400 });
      expect(drawn.trimEnd()).toBe(
        spans
          .map(({ text }) => text)
          .join('')
          .trimEnd(),
      );
    }),
  );
});

test('the ground of a line keeps its colours, and goes up to its width', () => {
  const drawn = renderToString(
    <ThemeContext value={createTheme('dark', true)}>
      <Line
        spans={[...plainLine('bob '), ...plainLine('en≠', 'warning')]}
        ground="plain"
        width={20}
      />
    </ThemeContext>,
  );
  expect(drawn).toContain('\x1b[38;5;221m');
  expect(drawn.match(/48;5;236/g)?.length).toBeGreaterThan(0);
  expect(widthOf(drawn.replace(/\x1b\[[\d;]*m/g, ''))).toBe(20);
});

test('a dialog of any width is closed on all sides, and cuts only with a sign', () => {
  fc.assert(
    fc.property(fc.integer({ min: 12, max: 80 }), texts, (width, text) => {
      const drawn = renderToString(
        <Dialog title={plainLine(' plan')} foot={[]} width={width} padding={1}>
          <Line spans={plainLine(text)} />
        </Dialog>,
        { columns: width },
      ).split('\n');
      expect(drawn[0]).toMatch(/^┌ plan ─+┐$/);
      expect(drawn.at(-1)).toMatch(/^└─+┘$/);
      for (const row of drawn) expect(widthOf(row)).toBe(width);
      const inside = drawn[1]?.slice(1, -1).trim() ?? '';
      if (inside !== text.trim()) expect(inside).toMatch(/…$/);
    }),
  );
});

const DELETED = { kind: 'step', head: 'delete user bob on', tail: '', tone: 'bad' } as const;

test('a question stands below what it is about', () => {
  const box = {
    title: '2 to delete',
    tone: 'warning',
    texts: {
      steps: [{ ...DELETED, devices: ['fw1', 'fw2'] }],
      below: [{ tone: 'warning', text: '! undo cannot restore uuid of user on all 2' }],
    },
    asked: [plainLine('2 steps on 2 devices. Type 2 to DELETE:', 'heading')],
    ...{ scroll: '', hasEdges: true, width: 76, top: 0, height: 2, depth: 0, foundAt: undefined },
  } as const;
  expect(renderToString(<Question box={box} columns={80} />)).toMatchInlineSnapshot(`
    "┌ 2 to delete ────────────────────────────────┐
    │ - delete user bob  fw1, fw2                 │
    │ ! undo cannot restore uuid of user on all 2 │
    │ 2 steps on 2 devices. Type 2 to DELETE:     │
    └─────────────────────────────────────────────┘"
  `);
});

test('a form says on how many devices it adds, and its line stands in the edge', () => {
  const fields: readonly FormField[] = [
    {
      ...{ name: 'username', label: 'Username', type: 'text', value: '', fallback: '' },
      ...{ isRequired: true, isReadOnly: false, isSecret: false },
      origin: 'observed',
    },
  ];
  const opening = { action: 'add', resource: 'user', keys: [], on: '', device: undefined } as const;
  const state = after(
    { ...stateOf({ fw1: [user('bob')], fw2: [] }, { columns: 60, rows: 16 }), focus: 'table' },
    { kind: 'form', opening, fields },
    { kind: 'edit', key: { kind: 'insert', text: 'carol' } },
  );
  const view = formBox(state);
  expect(view && renderToString(<Form view={view} />)).toMatchInlineSnapshot(`
    "┌ user add on 2 devices · fields as the device reports t… ─┐
    │▸~ Username * [carol               ] required             │
    └  › user add username=carol ──────────────────────────────┘"
  `);
});

test('the records around the cursor are in sight, however few rows there are', () => {
  const users = Array.from({ length: 30 }, (_, at) => user(`u${String(at).padStart(2, '0')}`));
  let state = stateOf({ fw1: users }, { columns: 60, rows: 24 });
  for (let at = 0; at < 17; at += 1) state = after(state, { kind: 'view', action: 'down' });
  for (const height of [2, 4, 9]) {
    const { cursor } = state.table;
    const drawn = renderToString(<RecordTable state={state} height={height} />, { columns: 60 });
    expect(drawn.split('\n').length).toBeLessThanOrEqual(height);
    expect(drawn).toMatch(new RegExp(`^▸ *u${String(cursor).padStart(2, '0')}`, 'm'));
  }
});
