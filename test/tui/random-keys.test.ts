import type { Invocation } from '../../src/shell/command.ts';
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import type { ShellIo } from '../../src/shell/session.ts';
import type { Output } from '../../src/shell/output.ts';
import { Shell } from '../../src/shell/shell.ts';
import { startScreen } from './session-screen.ts';
import { lineText } from '../../src/tui/editor/line.ts';
import { initialState } from '../../src/tui/initial-state.ts';
import { KEYMAP } from '../../src/tui/keys/default-keymap.ts';
import type { Context, State } from '../../src/tui/state.ts';
import { contextOf, hasCommandKeys } from '../../src/tui/keys/keymap.ts';
import { loadRun } from '../../src/shell/writing/stored-runs.ts';
import { LONGEST_WAIT_MS, QUIET_MS } from '../../src/tui/questions.ts';
import type { Store } from '../../src/tui/store.ts';
import { type KeyEvent, parseKey } from '../../src/tui/terminal/keys.ts';
import { rounds } from '../rounds.ts';

/** So many keys reach every context. */
const ENOUGH_KEYS = 20_000;
/** How many keys all sessions press together. Session N takes the seed SEED + N. */
const KEYS = rounds(ENOUGH_KEYS, { variable: 'DEVSH_RANDOM_KEYS' });
const SEED = Number(process.env['DEVSH_RANDOM_SEED'] ?? 100);
const SESSIONS = 8;

/** A shell that notes what a plan was made for, and what the prompt named when its line began. */
class WatchedShell extends Shell {
  store: Store | undefined;
  readonly astray: string[] = [];
  plans = 0;

  override async *evaluate(line: string | Invocation, io: ShellIo): AsyncGenerator<Output> {
    const invocation = typeof line === 'string' ? this.parse(line) : line;
    const { fleet } = this.store?.state ?? initialState({ columns: 80, rows: 24 });
    const [only = ''] = fleet.selected;
    if (fleet.selected.length === 1 && !fleet.prompt.includes(only))
      this.astray.push(`the prompt "${fleet.prompt}" does not name ${only}`);
    // A lockout is about all devices, and its question says so.
    const isEverywhere = invocation.command.name === 'lockout';
    const meant = new Set([
      ...fleet.selected,
      ...(invocation.given.on ?? []).flatMap((on) => on.split(',')),
    ]);
    for await (const output of super.evaluate(invocation, io)) {
      if (output.kind === 'plan') {
        this.plans += 1;
        const ofRun = await this.#devicesOfRun(invocation);
        for (const { device, steps } of output.plan.devices)
          if (
            steps.length > 0 &&
            !isEverywhere &&
            !meant.has(device.name) &&
            !ofRun.includes(device.name)
          )
            this.astray.push(
              `${invocation.line}: ${device.name} at "${fleet.prompt}"${io.signal.aborted ? ', aborted' : ''}`,
            );
      }
      yield output;
    }
  }

  /** A line that names a run means the devices that it had. */
  async #devicesOfRun({ command, args }: Invocation): Promise<string[]> {
    const run = ['resume', 'undo'].includes(command.name) ? args.optional('RUN') : undefined;
    if (run === undefined) return [];
    const { plan } = await loadRun(this.shell.services, run);
    return plan.devices.map(({ device }) => device.name);
  }
}

async function startWatched() {
  const screen = await startScreen((session) => new WatchedShell(session));
  screen.shell.store = screen.store;
  screen.controller.start('user list');
  return screen;
}

type Screen = Awaited<ReturnType<typeof startWatched>>;

/** Mulberry32: the same keys for the same seed. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function eventOf(key: string): KeyEvent {
  const text = /^.$/u.test(key) ? key : key === 'space' ? ' ' : '';
  return { kind: 'key', ...parseKey(key === ' ' ? 'space' : key), text };
}

/** What typing may change, place by place; in a filter the table's cursor stays on its row. */
const TYPED: Readonly<Partial<Record<Context, readonly (keyof State)[]>>> = {
  prompt: ['prompt'],
  'empty-prompt': ['prompt'],
  menu: ['prompt'],
  search: ['prompt'],
  filter: [],
  find: ['find', 'overlay', 'questions'],
  form: ['form'],
  'form-choice': ['form'],
  'form-pick': ['form'],
  question: ['questions'],
  plan: ['questions'],
  // The question says that it dropped what was typed.
  waiting: ['prompt', 'questions'],
};

/** What else is on the screen makes the table higher or lower. */
const SCROLLED = ['top'];
const FILTERED = ['filter', 'cursor', 'top'];

function changed<T extends object>(before: T, after: T): string[] {
  return Object.keys(after).filter((name) => before[name as keyof T] !== after[name as keyof T]);
}

function typedAnswers({ questions }: State): string[] {
  return questions.map(({ editing }) => lineText(editing.line));
}

/** One key, and what it did at once. */
function press({ controller, store }: Screen, key: string): void {
  const before = store.state;
  const context = contextOf(before);
  const event = eventOf(key);
  controller.onKey(event);
  const allowed = TYPED[context];
  const isTyped = event.kind === 'key' && event.text !== '';
  if (!isTyped || allowed === undefined) return;
  if (context === 'empty-prompt' && ['/', '?', '!'].includes(key)) return;
  const where = `"${key}" typed in ${context}`;
  const expected = [...allowed, 'table', 'pendingKeys'];
  for (const part of changed(before, store.state)) expect(expected, where).toContain(part);
  if (context === 'waiting') expect(typedAnswers(store.state), where).toEqual(typedAnswers(before));
  const ofTable = context === 'filter' ? FILTERED : SCROLLED;
  for (const part of changed(before.table, store.state.table))
    expect(ofTable, where).toContain(part);
}

const ALL_KEYS = [...new Set(KEYMAP.flatMap(({ keys }) => keys.flatMap((key) => key.split(' '))))];
/** Keys that lead to a question, which takes a moment to open. */
const ASKING = new Set(['d', 'u']);

function lettersOf(text: string): string[] {
  return Array.from(text);
}

/** Where one is without devices, what is no place, and what lasts only a moment. */
const ELSEWHERE: readonly Context[] = ['anywhere', 'roll-out'];

const NAMES: Readonly<Record<string, string>> = { '\r': 'enter', '\t': 'tab' };

function words(names: readonly string[]): string[] {
  const [first = '', second = ''] = names;
  return [
    'undo',
    'delete',
    'user list\r',
    'devices\r',
    'resources\r',
    'runs\r',
    'help\r',
    `use ${first}\r`,
    `use ${second}\r`,
    'use all\r',
    'user list --drift\r',
    'interface list\r',
    'user list vi',
    'use \t\t',
    'user \t',
    '/vi\r',
    '?/use\r',
    'user delete viewer\r',
    'user set viewer lang=de\r',
    `user set viewer lang=fr --on ${second}\r`,
    'user add username=zed first_name=Z lastname=Z lang=de\r',
    'rm viewer\r',
    '10\r',
    'yes\r',
    'd10\r',
  ];
}

/** Until nothing runs and nothing is about to be asked. */
async function settled({ store, controller }: Screen): Promise<void> {
  const isSettled = (): boolean => {
    const isBusy = controller.runner.isRunning || store.state.reading !== undefined;
    return store.state.questions.length > 0 ? contextOf(store.state) !== 'waiting' : !isBusy;
  };
  await vi.waitUntil(isSettled, { timeout: 20_000, interval: 5 });
}

/** What Esc clears in the table, one after the other. */
const CLEARED = ['filter', 'marks'];

/** Esc leads back to the table, and there it changes nothing. */
async function leaveByEscape(screen: Screen): Promise<void> {
  const { store, writes, controller } = screen;
  const isThere = (): boolean =>
    contextOf(store.state) === 'table' && store.state.backStack.length === 0;
  // Keys that wait for what another one opens, and that open something themselves, have been pressed by then.
  for (let before: State | undefined; before !== store.state || controller.runner.isRunning;) {
    for (let times = 0; times < 200 && (controller.runner.isRunning || !isThere()); times += 1) {
      press(screen, 'escape');
      await settled(screen);
    }
    before = store.state;
    await delay(2 * LONGEST_WAIT_MS);
    await settled(screen);
  }
  for (let times = 0; times < 200 && !isThere(); times += 1) press(screen, 'escape');
  CLEARED.forEach(() => press(screen, 'escape'));
  const sent = writes();
  const view = ({
    focus,
    overlay,
    backStack: trail,
    form,
    questions,
    fleet,
    table,
    prompt,
  }: State) => ({
    ...{ focus, overlay, trail, form, questions, selected: fleet.selected },
    ...{ order: fleet.devices.map(({ name }) => name), line: lineText(prompt.editing.line) },
    ...{ command: table.command, marks: table.marks, filter: table.filter, cursor: table.cursor },
  });
  const there = view(store.state);
  expect(contextOf(store.state)).toBe('table');
  for (let times = 0; times < 5; times += 1) press(screen, 'escape');
  await settled(screen);
  expect(view(store.state)).toEqual(there);
  expect(writes()).toBe(sent);
}

async function pressMany(screen: Screen, count: number, seed: number, seen: Set<Context>) {
  const { store, shell } = screen;
  const next = random(seed);
  const pick = <T>(list: readonly T[], fallback: T): T =>
    list[Math.floor(next() * list.length)] ?? fallback;
  const said = words(screen.names);
  store.subscribe(() => seen.add(contextOf(store.state)));
  const pressed: string[] = [];
  let typing: string[] = [];
  await settled(screen);
  // By chance alone these views are not always reached before a device is disconnected.
  screen.devices[0]?.putUser({ username: 'mallory' });
  for (const key of ['escape', 'r', 'T', 'enter', 'escape', 'escape', 'c']) {
    press(screen, key);
    await settled(screen);
  }
  for (let index = 0; index < count; index += 1) {
    const context = contextOf(store.state);
    if (context === 'waiting' && next() < 0.2) await settled(screen);
    const here = KEYMAP.filter((one) => one.context === context).flatMap(({ keys }) => keys);
    const [question] = store.state.questions;
    if (typing.length === 0) {
      const kind = next();
      if (question?.isOpen === true && kind < 0.3)
        typing = [...lettersOf(question.expected ?? 'x'), '\r'];
      else if (kind < 0.15) typing = lettersOf(pick(said, 'x'));
      else if (kind < 0.75) typing = pick(here, 'down').split(' ');
      else typing = [pick(ALL_KEYS, 'down')];
      const isCostly = ASKING.has(typing[0] ?? '') && next() < 0.8;
      if (hasCommandKeys(context) && isCostly) typing = ['j'];
    }
    const [key = 'down', ...rest] = typing;
    typing = rest;
    pressed.push(key);
    try {
      press(screen, NAMES[key] ?? key);
      if (index % 500 === 499) await leaveByEscape(screen);
    } catch (error) {
      throw new Error(`seed ${seed}, after ${pressed.slice(-60).join(' ')}`, { cause: error });
    }
    // Whole words in one go, and everything else as devices answer.
    if (next() < 0.3) await turn();
    if (next() < 0.01) await settled(screen);
    expect(shell.astray, pressed.slice(-60).join(' ')).toEqual([]);
  }
  await leaveByEscape(screen);
  // Keys are dropped until a pause if the focus has just moved by itself.
  for (let times = 0; times < 20 && store.state.focus !== 'prompt'; times += 1) {
    await delay(QUIET_MS);
    press(screen, ':');
  }
  for (const key of ['ctrl-e', 'ctrl-u', 'u', 's', 'e', 'tab']) press(screen, key);
  // Proposals come a moment later than their key.
  await vi.waitUntil(() => store.state.prompt.menu !== undefined, { timeout: 20_000, interval: 5 });
  press(screen, 'ctrl-c');
  press(screen, 'escape');
  await settled(screen);
  // At rest: a question without a plan.
  for (let times = 0; times < 5 && store.state.questions.length === 0; times += 1) {
    press(screen, 'ctrl-c');
    await turn();
  }
  await settled(screen);
  press(screen, 'escape');
}

test(
  `${KEYS} random keys write where the prompt said, act where they were typed, and Esc ends in the table`,
  { timeout: 40_000 + KEYS * 10 },
  async () => {
    const screens = await Promise.all(Array.from({ length: SESSIONS }, startWatched));
    const seen = new Set<Context>();
    // Few keys do not reach every context.
    const share = Math.min(1, KEYS / ENOUGH_KEYS);
    const each = Math.ceil(KEYS / SESSIONS);
    await Promise.all(screens.map((screen, index) => pressMany(screen, each, SEED + index, seen)));
    const contexts = new Set(KEYMAP.map(({ context }) => context));
    for (const context of ELSEWHERE) contexts.delete(context);
    const missing = [...contexts].filter((context) => !seen.has(context));
    const reached = contexts.size - missing.length;
    const atLeast = (count: number): number => Math.floor(count * share);
    expect(reached, `without ${missing.join(', ')}`).toBeGreaterThanOrEqual(atLeast(contexts.size));
    const plans = screens.reduce((sum, { shell }) => sum + shell.plans, 0);
    expect(plans).toBeGreaterThanOrEqual(atLeast(11));
    const writes = screens.reduce((sum, screen) => sum + screen.writes(), 0);
    expect(writes).toBeGreaterThanOrEqual(atLeast(1));
  },
);
