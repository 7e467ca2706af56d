import { rowLine } from '../../src/tui/table/view.ts';
import fc from 'fast-check';
import { createElement } from 'react';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { driftOf } from '../../src/fleet/drift.ts';
import { App } from '../../src/tui/components/app.tsx';
import { isEffect } from '../../src/tui/keys/key-binding.ts';
import { KEYMAP } from '../../src/tui/keys/default-keymap.ts';
import { reduce } from '../../src/tui/reduce.ts';
import { createTheme } from '../../src/tui/screen/theme.ts';
import type { Context } from '../../src/tui/state.ts';
import { Store } from '../../src/tui/store.ts';
import { copiedCommands } from '../../src/tui/table/commands.ts';
import { tableView } from '../../src/tui/table/view.ts';
import { mountInk } from '../../src/tui/terminal/render.ts';
import { countComputing } from '../contention.ts';
import { rounds } from '../rounds.ts';
import { stateOf, user } from './table/table-fixture.ts';

const SIZE = { columns: 160, rows: 40 };
/** UTF-8 of a cell that is full of families: eight units for each of at most 40 cells. */
const MOST_OF_CELL = 40 * 8 * 3;
/** No terminal is wider. */
const MOST_MEASURED = 2_048;
/** All that one key measures: about two screens, and four values of 2,000 characters side by side. */
const MOST_OF_KEY = 250_000;
/** Units of one value. */
const LONG = 300_000;
/** No key takes a fifth of this, but a machine may be busy; a key that reads all values to their ends takes seconds. */
const MOST_CPU_MS = 500;

const PIECES = [
  ...['x', '漢', 'Ж', '9', 'ab ', '\u0301', '\u0301\u0316', 'e\u0301', '\u200d', '\u001b[31m'],
  ...['👨‍👩‍👧‍👦', '\n', '\u202e', '\ud800', '각', 'ก็', '🏴', '"', '=', '\\'],
];
const hostile = fc
  .array(fc.tuple(fc.constantFrom(...PIECES), fc.integer({ min: 1, max: 20_000 })), {
    minLength: 1,
    maxLength: 3,
  })
  .map((parts) => parts.map(([piece, times]) => piece.repeat(times)).join(''));
const field = fc.constantFrom('username', 'first_name', 'lang', 'uuid');
const record = fc.tuple(field, hostile, fc.boolean());

type Held = Readonly<Record<string, readonly ReturnType<typeof user>[]>>;

async function openScreen(held: Held) {
  const store = new Store({ ...stateOf(held, SIZE), focus: 'table' }, reduce);
  let frame = '';
  const screen = {
    size: SIZE,
    paint: (text: string) => void (frame = text),
    onResize: () => () => undefined,
  };
  const app = createElement(App, { store, themeOf: (name) => createTheme(name, false) });
  const mounted = mountInk(app, screen);
  await turn();
  return {
    store,
    frame: () => frame,
    close: () => {
      mounted.unmount();
    },
  };
}

type Measured = (what: string, act: () => void) => Promise<void>;

/** Each key of the table, one after the other, then those of the comparison. */
async function pressAll(store: Store, held: Held, measured: Measured): Promise<void> {
  const pressIn = async (place: Context): Promise<void> => {
    const { overlay } = store.state;
    for (const { context, keys, action, disabled, run } of KEYMAP) {
      if (context !== place) continue;
      await measured(`${place} ${keys.join(' ')}`, () => {
        disabled?.(store.state);
        if (run !== undefined) run(store.state, 0);
        else if (action === 'copy') copiedCommands(store.state);
        else if (!isEffect(action) && action !== 'press-in-table') store.act(action);
      });
      if (store.state.overlay.kind !== overlay.kind)
        await measured('escape', () => store.act('close'));
    }
  };
  await pressIn('table');
  await measured('drift', () => {
    const reads = Object.entries(held).map(([name, records]) => ({
      device: { name, address: `${name}:443` },
      records,
    }));
    const drift = driftOf(reads, { keyField: 'username', perDevice: ['uuid'] });
    const output = { kind: 'drift', resource: 'user', drift, perDevice: ['uuid'] } as const;
    const place = { command: 'user list --drift', filter: '', cursor: 0, device: 0 };
    store.dispatch({
      kind: 'view-over',
      overlay: { kind: 'drift', output, isWhole: true, ...place },
    });
  });
  await pressIn('drift');
}

function heldBy(recordsOf: (device: string) => readonly ReturnType<typeof user>[]): Held {
  return Object.fromEntries(['fw1', 'fw2', 'fw3'].map((name) => [name, recordsOf(name)]));
}

test(
  'no key measures more of a hostile record than it shows, and no cell of it is long',
  { timeout: 300_000 },
  async () => {
    const segment = vi.spyOn(Intl.Segmenter.prototype, 'segment');
    try {
      await fc.assert(
        fc.asyncProperty(fc.array(record, { minLength: 1, maxLength: 12 }), async (values) => {
          const held = heldBy((device) =>
            values.map(([name, value, isOwn], at) => ({
              ...user(`user${at}`, at % 3 === 0 ? device : 'de'),
              [name]: isOwn ? value + device : value,
            })),
          );
          const { store, frame, close } = await openScreen(held);
          try {
            await pressAll(store, held, async (what, act) => {
              segment.mockClear();
              act();
              await turn();
              const lengths = segment.mock.calls.map(([text]) => text.length);
              expect(Math.max(0, ...lengths), what).toBeLessThanOrEqual(MOST_MEASURED);
              const all = lengths.reduce((sum, length) => sum + length, 0);
              expect(all, what).toBeLessThan(MOST_OF_KEY);
              for (const line of frame().split('\n'))
                expect(Buffer.byteLength(line), what).toBeLessThan(SIZE.columns * 8 * 3);
              for (const pieces of tableView(store.state, SIZE.columns, SIZE.rows).rows.map(
                rowLine,
              ))
                for (const { text } of pieces)
                  expect(Buffer.byteLength(text), what).toBeLessThanOrEqual(MOST_OF_CELL);
            });
          } finally {
            close();
          }
        }),
        { numRuns: rounds(50), endOnFailure: true },
      );
    } finally {
      segment.mockRestore();
    }
  },
);

/** The first ones took longest. */
const REPEATED = ['\ud800', '\n', 'x', '漢', '\u0301', '\u200d', '"', '👨‍👩‍👧‍👦'];

test.each(REPEATED.slice(0, rounds(REPEATED.length)))(
  'no key computes long in a table full of long values: %j',
  { timeout: 60_000 },
  async (piece) => {
    const value = piece.repeat(Math.ceil(LONG / piece.length));
    const held = heldBy((device) =>
      Array.from({ length: 40 }, (_, at) => ({
        ...user(`user${at}`),
        // One text in memory, as it comes from a device.
        first_name: JSON.parse(JSON.stringify(value + (at % 2 === 0 ? device : ''))) as string,
      })),
    );
    const { store, close } = await openScreen(held);
    try {
      await pressAll(store, held, async (what, act) => {
        const computedMs = countComputing();
        act();
        await turn();
        expect(computedMs(), what).toBeLessThan(MOST_CPU_MS);
      });
    } finally {
      close();
    }
  },
);
