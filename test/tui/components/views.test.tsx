import fc from 'fast-check';
import { renderToString } from 'ink';
import { expect, test } from 'vitest';
import type { StepResult } from '../../../src/change/verdict.ts';
import { UnreachableError } from '../../../src/device/errors.ts';
import { widthOf } from '../../../src/text/visible.ts';
import { List } from '../../../src/tui/components/list.tsx';
import { RollOutGrid } from '../../../src/tui/components/roll-out-grid.tsx';
import type { RollOutState } from '../../../src/tui/state.ts';
import type { ListView } from '../../../src/tui/views/view.ts';

function rollOutOn(count: number, bad: ReadonlySet<number>, ended = count): RollOutState {
  const refs = Array.from({ length: count }, (_, at) => {
    return { name: `fw${at + 1}`, address: `fw${at + 1}:443` };
  });
  const results = refs.slice(0, ended).map((device, at): StepResult => {
    const step = { device, resource: 'user', key: 'bob', action: 'delete' } as const;
    if (!bad.has(at)) return { ...step, verdict: 'done' };
    return { ...step, verdict: 'failed', error: new UnreachableError(device, `reason ${at}`) };
  });
  return {
    devices: refs.map(({ name }) => ({ name, steps: 1 })),
    begun: refs.slice(0, ended + 1).map(({ name }) => name),
    ...{ results, refusals: [], line: 'user delete bob', control: 'running' },
    ...{ elapsedMs: 4000, toSend: count, isSteady: true },
  };
}

function drawn(rollOut: RollOutState, width: number, height: number): string[] {
  const grid = <RollOutGrid rollOut={rollOut} width={width} height={height} />;
  return renderToString(grid, { columns: width }).split('\n');
}

test('a roll-out has a bar with its rate, a cell for each device, and what failed below', () => {
  expect(drawn(rollOutOn(6, new Set([2]), 4), 90, 12).map((line) => line.trimEnd()))
    .toMatchInlineSnapshot(`
      [
        " user delete bob",
        " ━━━━━━━━━━━━━━━━✗✗✗✗─────────  3 done · 1 not as planned · 2 left",
        " 4 s · 60/min · about 2 s left",
        "   ✓ fw1  ✓ fw2  ✗ fw3  ✓ fw4  ▸ fw5  · fw6",
        " ✗ fw3  failed - reason 2",
        "",
        "",
        "",
        "",
        "",
        "",
        "",
      ]
    `);
});

test('a roll-out of any size fits its place, and says how many causes have no room', () => {
  const numbers = fc.uniqueArray(fc.integer({ min: 0, max: 1500 }), { maxLength: 40 });
  const sizes = fc.record({
    width: fc.integer({ min: 40, max: 200 }),
    height: fc.integer({ min: 6, max: 50 }),
  });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1500 }), numbers, sizes, (count, bad, size) => {
      const failed = bad.filter((at) => at < count);
      const lines = drawn(rollOutOn(count, new Set(failed)), size.width, size.height);
      expect(lines.length).toBeLessThanOrEqual(size.height);
      for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(size.width);
      expect(lines[1]).toContain(`${count - failed.length} done · ${failed.length} not as planned`);
      const shown = lines.filter((line) => line.startsWith(' ✗ fw')).length;
      const rest = /… (\d+) more: m/.exec(lines.join('\n'))?.[1] ?? '0';
      const isFull = size.height === 3 + Math.ceil(count / (size.width - 2));
      if (!isFull) expect(shown + Number(rest)).toBe(failed.length);
    }),
    { numRuns: 40 },
  );
});

test('the current item of a list is in sight below the heading of its group, and no heading stands twice', () => {
  interface Item {
    readonly name: string;
    readonly group: string;
  }
  const groups = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(groups, fc.nat(), fc.integer({ min: 3, max: 12 }), (sizes, seed, height) => {
      const rows = sizes.flatMap((size, group) =>
        Array.from({ length: size }, (_, at): Item => {
          return { name: `item ${group}.${at}`, group: `group ${group}` };
        }),
      );
      const cursor = seed % rows.length;
      const list: ListView<Item> = {
        ...{ rows, cursor, total: rows.length, empty: '', fields: [] },
        columns: [{ title: 'NAME', text: ({ name }) => name, most: 20, rank: 0 }],
        idAt: (index) => rows[index]?.name,
        toneOf: () => 'plain',
        signOf: () => '',
      };
      const view = <List list={list} width={40} height={height} headingOf={({ group }) => group} />;
      const lines = renderToString(view, { columns: 40 }).split('\n');
      expect(lines.length).toBeLessThanOrEqual(height);
      const at = lines.findIndex((line) => line.startsWith(`▸  ${rows[cursor]?.name ?? ''}`));
      expect(at).toBeGreaterThan(0);
      expect(
        lines
          .slice(0, at)
          .findLast((line) => line.startsWith(' group'))
          ?.trim(),
      ).toBe(rows[cursor]?.group);
      const headings = lines.filter((line) => line.startsWith(' group'));
      expect(new Set(headings).size).toBe(headings.length);
    }),
  );
});
