import { PassThrough } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { Shell } from '../../src/shell/shell.ts';
import { lineText } from '../../src/tui/editor/line.ts';
import { contextOf, typedText } from '../../src/tui/keys/keymap.ts';
import { Typeahead } from '../../src/tui/questions.ts';
import type { State } from '../../src/tui/state.ts';
import { type KeyEvent, KeyReader } from '../../src/tui/terminal/keys.ts';
import { rounds } from '../rounds.ts';
import { startScreen } from './session-screen.ts';

const BYTES: Readonly<Record<string, string>> = {
  ...{ escape: '\x1b', enter: '\r', tab: '\t', backspace: '\x7f', space: ' ', f1: '\x1bOP' },
  ...{ up: '\x1b[A', down: '\x1b[B', right: '\x1b[C', left: '\x1b[D', 'shift-tab': '\x1b[Z' },
  ...{
    pageup: '\x1b[5~',
    pagedown: '\x1b[6~',
    'ctrl-k': '\x0b',
    'ctrl-u': '\x15',
    'ctrl-r': '\x12',
  },
};
const ESCAPE_MS = 5;

/** A screen that reads bytes. */
async function startTyping() {
  let leaves = 0;
  const { controller, store } = await startScreen(
    (session) => new Shell(session),
    () => (leaves += 1),
  );
  const stdin = new PassThrough();
  /** An Escape at the end of what was sent is a key only after its time. */
  let isEscapeDue = false;
  const onKey = (event: KeyEvent): void => {
    if (event.kind === 'key' && event.name === 'escape') isEscapeDue = false;
    controller.onKey(event);
  };
  const reader = new KeyReader(stdin, onKey, { escapeTimeoutMs: ESCAPE_MS });
  reader.start();
  onTestFinished(() => reader.stop());
  let isAnswered = false;
  store.subscribe(() => {
    // What comes by itself is not for keys that are typed ahead.
    const { questions, prompt } = store.state;
    isAnswered ||= questions.length > 0 || prompt.problem !== undefined;
  });
  const settled = async (): Promise<void> => {
    // A line that asks runs until it is answered.
    const isWorking = (): boolean =>
      !isAnswered && (controller.runner.isRunning || store.state.reading !== undefined);
    const isBusy = (): boolean => isEscapeDue || isWorking();
    await vi.waitUntil(() => !isBusy(), { timeout: 20_000, interval: 1 });
    // What waited for the end of a line goes on in the next turn.
    await nextTurn();
  };
  controller.start('user list');
  await settled();
  return {
    send: (keys: readonly string[]) => {
      stdin.emit('data', Buffer.from(keys.map((key) => BYTES[key] ?? key).join('')));
      isEscapeDue = keys.at(-1) === 'escape';
    },
    settled,
    state: () => store.state,
    isAnswered: () => isAnswered,
    leaves: () => leaves,
  };
}

function seen(state: State) {
  const { overlay, table, prompt, focus, find, form, fleet } = state;
  return {
    context: contextOf(state),
    focus,
    view: overlay.kind,
    at: 'cursor' in overlay ? overlay.cursor : undefined,
    find: lineText(find.editing.line),
    row: table.cursor,
    filter: lineText(table.filter.editing.line),
    sort: table.sort,
    isFolded: table.isFolded,
    marks: [...table.marks],
    line: lineText(prompt.editing.line),
    field: form?.cursor,
    selected: fleet.selected,
  };
}

/** Terminals send these behind ESC as the start of a sequence. */
const SEQUENCES = '[OPX]^_'.split('');

afterAll(() => vi.restoreAllMocks());

/** In one burst, and one by one; undefined if there is nothing to compare. */
async function bothWays(keys: readonly string[]) {
  const [slow, fast] = await Promise.all([startTyping(), startTyping()]);
  const held = vi.spyOn(Typeahead.prototype, 'hold');
  let before = '';
  for (const [index, key] of keys.entries()) {
    const isAlt = keys[index - 1] === 'escape' && before !== '' && 'bfd'.includes(key);
    const isAltErase = keys[index - 1] === 'escape' && before !== '' && key === 'backspace';
    if (isAlt || isAltErase) return undefined;
    if (key === 'escape') before = typedText(slow.state());
    held.mockClear();
    slow.send([key]);
    await slow.settled();
    if (slow.leaves() > 0 || slow.isAnswered()) return undefined;
    // The next key would wait, and `before` be what was typed before this one.
    for (const [until] of held.mock.calls) await until?.catch(() => undefined);
  }
  fast.send(keys);
  await fast.settled();
  await vi
    .waitUntil(() => JSON.stringify(seen(fast.state())) === JSON.stringify(seen(slow.state())), {
      timeout: 10_000,
      interval: 5,
    })
    .catch(() => undefined);
  return { slow: seen(slow.state()), fast: seen(fast.state()) };
}

test.each<readonly string[]>([
  ['escape', '/', 'q'],
  ['escape', '/', 'd', 'a', 'v', 'e'],
  ['escape', 'escape', 'j', '/', 'v', 'i', 'enter', 'escape'],
  ['escape', 'tab', 'tab'],
  ['escape', 'R', 'escape', 'j', 'D', 'down', 'escape'],
  ['escape', 'D', 'j', 'enter', 'space'],
  ['ctrl-k', 'd', 'e', 'v', 'escape', 'escape', 'j'],
  ['u', 's', 'e', 'tab', 'escape', 'j'],
  ['v', 'tab', ':', 'escape', ':', ':'],
  ['ctrl-k', 'R', 'enter', ':', ':'],
  ['ctrl-k', ':', 'g', ':', 'T', 'pageup', 'tab', 'pagedown'],
])('%j', { timeout: 20_000 }, async (...keys) => {
  const both = await bothWays(keys);
  expect(both?.fast).toEqual(both?.slow);
  expect(both).toBeDefined();
});

test('any keys in one burst do the same as one by one', { timeout: 600_000 }, async () => {
  const named = fc.constantFrom(...Object.keys(BYTES), 'escape', 'escape', 'tab', 'ctrl-k');
  const letter = fc.constantFrom(...':/?jkgGsof*cRTDbCmpwraenvi=1'.split(''));
  const keys = fc
    .array(fc.oneof(named, letter), { minLength: 2, maxLength: 12 })
    .filter((all) => !all.some((key, at) => all[at - 1] === 'escape' && SEQUENCES.includes(key)));
  await fc.assert(
    fc.asyncProperty(keys, async (all) => {
      const both = await bothWays(all);
      fc.pre(both !== undefined);
      expect(both.fast).toEqual(both.slow);
    }),
    { numRuns: rounds(200, { variable: 'DEVSH_PROPERTY_RUNS' }) },
  );
});

test('a word typed in the table says only why its last letter did nothing', async () => {
  const { send, settled, state } = await startTyping();
  send(['escape', '/', 'nobody', 'enter']);
  await settled();
  const messages = () => state().log.all.map(({ text }) => text);
  const before = messages();
  for (const letter of ['z', 'e', 'd', 'z']) {
    send([letter]);
    await settled();
  }
  expect(messages().slice(before.length)).toEqual([
    'this key does nothing here; ":" goes to the prompt, "?" lists the keys',
  ]);
});
