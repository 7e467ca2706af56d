import { textOfLine } from '../../../src/tui/screen/theme.ts';
import { rowLine, type RowView } from '../../../src/tui/table/view.ts';
import type { Action } from '../../../src/tui/store.ts';
import { KEYMAP } from '../../../src/tui/keys/default-keymap.ts';
import { pressedKey } from '../../../src/tui/keys/keymap.ts';
import { reduce } from '../../../src/tui/reduce.ts';
import { initialState } from '../../../src/tui/initial-state.ts';
import type { Context, State } from '../../../src/tui/state.ts';
import { parseKey } from '../../../src/tui/terminal/keys.ts';
import type { ReadOutput } from '../../../src/shell/output.ts';
import { defaultView } from '../../../src/shell/records/read-records.ts';

type Fields = Readonly<Record<string, string>>;

/** A state with these devices connected and read. */
export function stateOf(
  devices: Readonly<Record<string, readonly Fields[]>>,
  size = { columns: 100, rows: 20 },
): State {
  const names = Object.keys(devices);
  const fleet = {
    devices: names.map((name) => ({
      name,
      address: `${name}:443`,
      kind: 'ready' as const,
      error: undefined,
    })),
    selected: names,
    isNarrowed: false,
    prompt: 'devsh all> ',
    rights: [{ text: 'as admin', isAlarming: false }],
    isReadOnly: false,
    questions: [],
    denied: new Map(),
  };
  return after(
    initialState(size),
    { kind: 'fleet', fleet },
    {
      kind: 'reads',
      reads: names.map((name) => readOf(name, devices[name] ?? [])),
    },
  );
}

export function readOf(name: string, records: readonly Fields[]): ReadOutput {
  return {
    kind: 'read',
    view: defaultView('user'),
    device: { name, address: `${name}:443` },
    outcome: { ok: true, records },
  };
}

export function after(state: State, ...actions: readonly Action[]): State {
  return actions.reduce(reduce, state);
}

/** What a key means in a place. */
export function actionFor(key: string, context: Context, keymap = KEYMAP): string | undefined {
  const pressed = pressedKey({ kind: 'key', text: '', ...parseKey(key) }, context, keymap);
  return pressed?.kind === 'binding' ? pressed.binding.action : undefined;
}

/** The line that the key for an action runs. */
export function lineOf(state: State, action: string): string | undefined {
  return KEYMAP.find((binding) => binding.action === action)?.run?.(state, 0);
}

export function user(username: string, lang = 'en', uuid = `id-${username}`): Fields {
  return { uuid, first_name: username.toUpperCase(), username, lang };
}

/** A run as the view of the runs tells it. */
export const RUN = {
  run: '20261121-093041-k3qd7m',
  at: '2 min ago',
  devices: '2',
  state: 'ended',
  verdicts: '2 done',
  command: 'user add username=bob',
};

/** A row of the table as it is shown. */
export function rowText(row: RowView): string {
  return textOfLine(rowLine(row)).trimEnd();
}
