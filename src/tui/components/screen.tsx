import { Box } from 'ink';
import { useSyncExternalStore } from 'react';
import { emptyLines, joined, type Piece, type RowView, tableView } from '../table/view.ts';
import { GUTTER } from '../../text/fit-columns.ts';
import { cut, fit, widthOf } from '../../text/visible.ts';
import type { State } from '../state.ts';
import { tableWidth } from '../table/columns.ts';
import { tableRows } from '../table/rows.ts';
import { painted, type Theme, type Tone } from '../screen/theme.ts';
import { DEVICES } from '../views/devices.ts';
import { paneLines } from '../views/details.ts';
import { matchParts } from '../views/reduce-view.ts';
import { listTop, type ListView } from '../views/view.ts';
import { listView, shownView, viewLines } from '../views/views.ts';
import { Footer, Header, Messages, Prompt, QuestionLines, Row } from './bars.tsx';
import { formView } from '../form/form-view.ts';
import { isTooSmall, layoutOf, SMALLEST } from '../screen/layout.ts';
import type { Store } from '../store.ts';

interface BodyProps {
  readonly state: State;
  readonly theme: Theme;
  readonly height: number;
}

/** The table, a form or the overlay; always exactly `height` rows. */
function Body({ state, theme, height }: BodyProps) {
  if (height < 1) return null;
  return (
    <Box flexDirection="column" height={height} flexShrink={0}>
      <Content state={state} theme={theme} height={height} />
    </Box>
  );
}

function Content({ state, theme, height }: BodyProps) {
  const { overlay, form } = state;
  const list = listView(state);
  if (list !== undefined) return <List state={state} theme={theme} height={height} list={list} />;
  if (overlay.kind !== 'none') return <OverlayText state={state} theme={theme} height={height} />;
  if (form === undefined) return <Table state={state} theme={theme} height={height} />;
  const isAsked = state.questions.length > 0;
  const toneOf = (tone: Tone): Tone => (isAsked && tone === 'accent' ? 'plain' : tone);
  return formView(form, state.size.columns, height).rows.map((spans, index) => (
    <Row key={index}>{painted((tone, text) => theme(toneOf(tone), text), spans)}</Row>
  ));
}

function Table({ state, theme, height }: BodyProps) {
  const { columns } = state.size;
  if (tableRows(state).rows.length === 0) {
    if (isWaiting(state)) return <Waiting state={state} theme={theme} height={height} />;
    const lines = emptyLines(state);
    const shown = lines.length > height ? lines.filter((line) => line !== '') : lines;
    return shown
      .slice(0, height)
      .map((line, index) => <Row key={index}>{cut(` ${line}`, columns)}</Row>);
  }
  const width = tableWidth(state);
  const view = tableView(state, width, height);
  const hasFocus = state.focus === 'table' && state.questions.length === 0;
  const isBarAt = (row: RowView): boolean => row.isCurrent && hasFocus;
  const lines = [
    { text: theme('head', fit(view.header, width)), cells: width },
    ...view.rows.map((row) => ({
      text: rowText(row, isBarAt(row), width, theme),
      cells: isBarAt(row) ? width : widthOf(row.text),
    })),
  ];
  if (width === columns) return lines.map(({ text }, index) => <Row key={index}>{text}</Row>);
  const pane = paneLines(state, columns - width - RULE.length, height);
  return Array.from({ length: height }, (_, index) => {
    const { text, cells } = lines[index] ?? { text: '', cells: 0 };
    const beside = painted(theme, pane[index] ?? []);
    const rule = theme('quiet', beside === '' ? RULE.trimEnd() : RULE);
    return <Row key={index}>{text + ' '.repeat(Math.max(0, width - cells)) + rule + beside}</Row>;
  });
}

/** Between the table and its details. */
const RULE = '│ ';

/** In the bar of the cursor, as wide as the table, only matches and changes stand out. */
const IN_BAR: Readonly<Partial<Record<Tone, Tone>>> = {
  match: 'current-match',
  changed: 'current-changed',
};

function rowText(row: RowView, isCurrent: boolean, columns: number, theme: Theme): string {
  if (!isCurrent) {
    const plain = row.isMarked ? 'accent' : row.isStale ? 'quiet' : 'plain';
    return painted((tone, text) => theme(tone === 'plain' ? plain : tone, text), row.pieces);
  }
  const padding: Piece = { tone: 'plain', text: ' '.repeat(columns - widthOf(row.text)) };
  const pieces = [...row.pieces, padding].map(({ tone, text }) => ({
    tone: IN_BAR[tone] ?? ('current' as const),
    text,
  }));
  return painted(theme, joined(pieces));
}

function isWaiting({ fleet, table, work, reading }: State): boolean {
  const isBusy = reading !== undefined || work !== undefined;
  return isBusy && fleet.devices.length > 0 && table.filter.parsed.terms.length === 0;
}

/** Until the first device responds: the devices and their states. */
function Waiting({ state, theme, height }: BodyProps) {
  const list = DEVICES.drawn?.({ kind: 'devices', cursor: -1 }, state);
  return list && <List state={state} theme={theme} height={height} list={list} />;
}

function OverlayText({ state, theme, height }: BodyProps) {
  const { overlay, size } = state;
  const shown = shownView(state);
  const lines = viewLines(state);
  const top = Math.max(0, Math.min('top' in overlay ? overlay.top : 0, lines.length - height));
  return lines.slice(top, top + height).map((line, index) => {
    const tone = shown?.view.tone?.(shown.over, state, lines, top + index) ?? 'plain';
    return (
      <Row key={index}>
        {' ' +
          matchParts(state, cut(line, size.columns - 1))
            .map(({ text, isMatch: isFound }) => theme(isFound ? 'chosen' : tone, text))
            .join('')}
      </Row>
    );
  });
}

/** The lines around the cursor, below their header. */
function List({ state, theme, height, list }: BodyProps & { readonly list: ListView }) {
  const { columns } = state.size;
  const { header, count, cursor: wanted, empty } = list;
  if (count === 0) return <Row>{cut(` ${empty}`, columns)}</Row>;
  const cursor = Math.min(wanted, count - 1);
  const room = Math.max(1, height - 1);
  const top = listTop(list, height);
  const hasFocus = state.focus === 'table' && state.questions.length === 0;
  return (
    <>
      <Row>{theme('head', fit(' '.repeat(GUTTER) + header, columns))}</Row>
      {Array.from({ length: Math.min(room, count - top) }, (_, index) => {
        const { sign = '', tone, parts } = list.row(top + index);
        const isCurrent = top + index === cursor;
        const mark = isCurrent ? '▸' : ' ';
        const spans = [{ tone, text: fit(sign, GUTTER - 1) }, ...parts];
        return (
          <Row key={index}>
            {isCurrent && hasFocus
              ? theme('current', fit(mark + spans.map(({ text }) => text).join(''), columns))
              : mark + painted(theme, spans)}
          </Row>
        );
      })}
    </>
  );
}

interface AppProps {
  readonly store: Store;
  readonly themeOf: (name: State['theme']) => Theme;
}

/** The whole screen, drawn from the state at every change. */
export function App({ store, themeOf }: AppProps) {
  const state = useSyncExternalStore(store.subscribe, store.snapshot, store.snapshot);
  return <Screen state={state} theme={themeOf(state.theme)} />;
}

function Screen({ state, theme }: { readonly state: State; readonly theme: Theme }) {
  const { columns, rows } = state.size;
  if (isTooSmall(state)) {
    const text = `devsh needs ${SMALLEST.columns}x${SMALLEST.rows}`;
    const indent = ' '.repeat(Math.max(0, Math.floor((columns - text.length) / 2)));
    return (
      <Box flexDirection="column" paddingTop={Math.max(0, Math.floor((rows - 1) / 2))}>
        <Row>{indent + text}</Row>
      </Box>
    );
  }
  const layout = layoutOf(state);
  return (
    <Box flexDirection="column">
      <Header state={state} theme={theme} />
      <Body state={state} theme={theme} height={layout.body} />
      <Messages lines={layout.messages} theme={theme} />
      <QuestionLines lines={layout.question} theme={theme} />
      <Prompt state={state} theme={theme} under={layout.under} />
      <Footer state={state} theme={theme} />
    </Box>
  );
}
