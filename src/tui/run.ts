import { createElement } from 'react';
import type { Opening, Shell } from '../shell/shell.ts';
import { type Host, wantsColor } from '../plain/host.ts';
import { App } from './components/app.tsx';
import { Controller } from './controller.ts';
import type { Surface } from './surface.ts';
import { formCursor } from './form/form-view.ts';
import { inputLine } from './prompt/input-line.ts';
import type { FleetView, Keymap, State } from './state.ts';
import { contextOf } from './keys/keymap.ts';
import { isTooSmall, layoutOf } from './screen/layout.ts';
import { reduce } from './reduce.ts';
import { initialState } from './initial-state.ts';
import { memoized, Store } from './store.ts';
import type { CursorPosition } from './terminal/painter.ts';
import { mountInk } from './terminal/render.ts';
import type { ThemeName } from '../text/choices.ts';
import { Terminal } from './terminal/terminal.ts';
import {
  createTheme,
  isLightColor,
  lacksUnicode,
  type Theme,
  themeFor,
  withAsciiSigns,
} from './screen/theme.ts';
import type { StepResult } from '../change/verdict.ts';
import { namesText, plainStyle } from './views/plan-lines.ts';
import { resultLines } from '../output/change-text.ts';
import { isUnderWay } from './views/roll-out.ts';
import { grouped } from '../device/record.ts';
import { counted } from '../text/one-line.ts';
import { cut, visible } from '../text/visible.ts';

interface ScreenOptions {
  readonly keymap: Keymap;
  /** Undefined if the terminal decides. */
  readonly theme: ThemeName | undefined;
  /** Whether nothing changes by itself. REDUCE_MOTION in the environment sets it, too. */
  readonly reduceMotion: boolean;
  readonly detailsBeside: boolean;
  /** Removes temporary files when a signal ends the process. */
  readonly cleanUp: () => void;
}

/** Runs the full screen until the user leaves or a signal ends it, then prints the changes of the session. */
export async function runTui(
  shell: Shell,
  host: Host,
  opening: Opening,
  { keymap, theme, reduceMotion, detailsBeside, cleanUp }: ScreenOptions,
): Promise<number> {
  const terminal = new Terminal(process.stdin, process.stdout, host.env, process, cleanUp);
  let asked = theme;
  /** Whether the background is light, as the terminal reports it; undefined before that. */
  let isLight: boolean | undefined;
  const start = initialState(terminal.size, keymap, themeFor(asked, host.env));
  const store = new Store({ ...start, isPaneHidden: !detailsBeside }, reduce);
  const hasColor = wantsColor(host, opening.color);
  // The same function for each frame, so that components are drawn again only if the colours change.
  const themeOf = memoized((name: State['theme']): Theme => createTheme(name, hasColor));
  let previous: Promise<unknown> = Promise.resolve();
  // Only one program at a time may use the terminal.
  const withTerminal = <T>(work: () => Promise<T>): Promise<T> => {
    const done = previous.then(() => terminal.runOutside(work));
    previous = done.catch(() => undefined);
    return done;
  };
  let leave: () => void = () => undefined;
  const left = new Promise<void>((resolve) => (leave = resolve));
  const surface: Surface = {
    repaint: () => {
      terminal.painter.invalidate();
      mounted.refresh();
    },
    suspend: () => terminal.suspend(),
    send: (bytes) => void host.stdout.write(bytes),
    edit: async (draft) => {
      const { editInProgram } = await import('../os/editor.ts');
      return withTerminal(() => editInProgram(draft, host.env));
    },
    copy: async (text) => (await import('../os/clipboard.ts')).copyWithProgram(text, host.env),
    showTheme: (wanted) => {
      asked = wanted;
      store.know({ theme: themeFor(asked, host.env, isLight) });
    },
    leave: () => leave(),
  };
  const hasReducedMotion = reduceMotion || !['', '0'].includes(host.env['REDUCE_MOTION'] ?? '');
  const controller = new Controller(shell, store, surface, hasReducedMotion);
  terminal.enter();
  // The terminal is asked because COLORFGBG may be of another one, inside of tmux or over ssh.
  if (hasColor)
    terminal.askBackground((color) => {
      isLight = isLightColor(color) ?? isLight;
      surface.showTheme(asked);
    });
  let title = '';
  const showTitle = (): void => {
    const wanted = windowTitle(store.state.fleet);
    if (wanted !== title) terminal.setTitle(wanted);
    title = wanted;
  };
  showTitle();
  store.subscribe(showTitle);
  terminal.onResize((size) => store.know({ size }));
  const isAscii = (): boolean => (asked === undefined ? lacksUnicode(host.env) : asked === 'ascii');
  const mounted = mountInk(createElement(App, { store, themeOf }), terminal, {
    cursor: () => cursorOf(store.state),
    spelled: (frame) => (isAscii() ? withAsciiSigns(frame) : frame),
  });
  terminal.onKey((event) => controller.onKey(event));
  const sayLast = (): void => {
    const { changes, unsent } = controller.runner;
    const summary = sessionSummary(changes, unsent, store.state);
    if (summary.length > 0) host.stdout.write(summary.join('\n') + '\n');
  };
  const release = host.onStop(() => {
    // The next SIGTERM ends the process.
    release();
    sayLast();
  }, ['SIGTERM']);
  try {
    controller.start(opening.line);
    await left;
  } finally {
    const saved = controller.stop();
    mounted.unmount();
    terminal.restore();
    await saved;
    release();
  }
  sayLast();
  return 0;
}

function cursorOf(state: State): CursorPosition | undefined {
  if (isTooSmall(state)) return undefined;
  if (contextOf(state).startsWith('form')) return formCursor(state);
  const { cursor } = inputLine(state);
  return cursor === undefined ? undefined : { row: layoutOf(state).inputRow, column: cursor };
}

/** The text on the normal screen after the session: what was done, what was not, and the line that continues. */
export function sessionSummary(
  changes: readonly StepResult[],
  unsent: ReadonlySet<StepResult>,
  { pending, fleet, rollOut }: Pick<State, 'pending' | 'fleet' | 'rollOut'>,
): string[] {
  const isUnsent = (result: StepResult): boolean =>
    unsent.has(result) || result.verdict === 'skipped' || result.verdict === 'drift';
  const results = changes.filter(({ verdict }) => verdict !== 'unchanged');
  const sent = results.filter((result) => !isUnsent(result));
  const counts = [...grouped(sent, ({ verdict }) => verdict)].map(
    ([verdict, of]) => `${of.length} ${verdict}`,
  );
  const rest = results.length - sent.length;
  const parts = rest === 0 ? counts : [...counts, `${rest} not sent`];
  const names = fleet.devices.map(({ name }) => name).filter((name) => pending.has(name));
  const owed = names.reduce((sum, name) => sum + (pending.get(name) ?? 0), 0);
  return [
    ...(parts.length === 0 ? [] : [`In this session: ${parts.join(' · ')}`]),
    ...resultLines(sent, undefined, plainStyle).map((text) => `  ${text}`),
    ...(owed === 0
      ? []
      : [`${counted(owed, 'change')} pending on ${namesText(names)}: "devsh resume" continues`]),
    ...(isUnderWay({ rollOut }) ? ['a run has not ended: "devsh resume" continues'] : []),
  ];
}

const LONGEST = 60;

/** The window title: `devsh: fw1, fw2`. */
export function windowTitle({
  devices,
  selected,
}: Pick<FleetView, 'devices' | 'selected'>): string {
  if (devices.length === 0) return 'devsh';
  const isAll = selected.length === devices.length && devices.length > 3;
  return cut(
    `devsh: ${isAll ? `${devices.length} devices` : visible(selected.join(', '))}`,
    LONGEST,
  );
}
