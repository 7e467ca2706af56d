import { Box } from 'ink';
import { visible } from '../../visible.ts';
import { overlayLines } from '../overlay-lines.ts';
import { cut, fit, widthOf } from '../../output/width.ts';
import { rollOutLines, rollOutTitle } from '../roll-out-lines.ts';
import type { State } from '../state.ts';
import { tableRows } from '../table-rows.ts';
import { tableView, type Piece, type RowView } from '../table-view.ts';
import type { Theme } from '../theme.ts';
import { Form } from './form.tsx';
import { Row } from './row.tsx';

interface BodyProps {
  readonly state: State;
  readonly theme: Theme;
  readonly height: number;
}

/** The table or a form, or the text that lies over it; always as high as it was told. */
export function Body({ state, theme, height }: BodyProps) {
  if (height < 1) return null;
  return (
    <Box flexDirection="column" height={height} flexShrink={0}>
      <Content state={state} theme={theme} height={height} />
    </Box>
  );
}

function Content({ state, theme, height }: BodyProps) {
  const { overlay, form } = state;
  if (overlay.kind !== 'none') return <OverlayText state={state} theme={theme} height={height} />;
  return form === undefined ? (
    <Table state={state} theme={theme} height={height} />
  ) : (
    <Form form={form} theme={theme} columns={state.size.columns} height={height} />
  );
}

function Table({ state, theme, height }: BodyProps) {
  const { columns } = state.size;
  if (tableRows(state).rows.length === 0) {
    return emptyLines(state).map((line) => <Row key={line}>{cut(` ${line}`, columns)}</Row>);
  }
  const view = tableView(state, columns, height);
  const hasFocus = state.focus === 'table' && state.questions.length === 0;
  return (
    <>
      <Row>{theme('heading', view.header)}</Row>
      {view.rows.map((row, index) => (
        <Row key={index}>{rowText(row, row.isCurrent && hasFocus, columns, theme)}</Row>
      ))}
    </>
  );
}

/** The whole line of the cursor stands out; in it, too, what the filter found. */
function rowText(row: RowView, isCurrent: boolean, columns: number, theme: Theme): string {
  const padding = ' '.repeat(Math.max(0, columns - widthOf(row.text)));
  const plain = isCurrent ? 'current' : row.isMarked ? 'accent' : 'plain';
  const tones = {
    plain,
    match: isCurrent ? 'current-match' : 'match',
    changed: isCurrent ? 'current-match' : 'changed',
  } as const;
  const pieces: readonly Piece[] = isCurrent
    ? [...row.pieces, { kind: 'plain', text: padding }]
    : row.pieces;
  return pieces.map(({ kind, text }) => theme(tones[kind], text)).join('');
}

function emptyLines({ fleet, table, work, reading }: State): string[] {
  if (fleet.devices.length === 0 && table.reads.size === 0) {
    return [
      '',
      'No device is connected yet. Type one of these:',
      '',
      '  connect 10.0.0.5 10.0.0.6     one or several devices',
      '  demo                          three simulated devices on this machine',
      '  help                          all commands',
    ];
  }
  if (table.filter.parsed.terms.length > 0) return ['', 'no record matches the filter'];
  if (reading !== undefined || work !== undefined) return ['', 'waiting for the devices …'];
  const hasAnswers = [...table.reads.values()].some(({ outcome }) => outcome.ok);
  return ['', hasAnswers ? 'no records' : 'nothing was read yet; r in the table tries again'];
}

function OverlayText({ state, theme, height }: BodyProps) {
  const { overlay, size } = state;
  if (overlay.kind === 'runs') return <Runs state={state} theme={theme} height={height} />;
  const lines = overlayLines(state);
  const tones = overlay.kind === 'roll-out' ? rollOutLines(overlay.rollOut) : [];
  const room = Math.max(1, height - 1);
  const top = Math.max(0, Math.min('top' in overlay ? overlay.top : 0, lines.length - room));
  const end = Math.min(lines.length, top + room);
  const where = lines.length > room ? ` (lines ${top + 1}-${end} of ${lines.length})` : '';
  return (
    <>
      <Row>{theme('accent', cut(` ${titleOf(state)}${where}`, size.columns))}</Row>
      {lines.slice(top, end).map((line, index) => (
        <Row key={index}>
          {theme(tones[top + index]?.tone ?? 'plain', cut(` ${line}`, size.columns))}
        </Row>
      ))}
    </>
  );
}

/** The runs around the cursor, below their header. */
function Runs({ state, theme, height }: BodyProps) {
  const { overlay, size } = state;
  const cursor = overlay.kind === 'runs' ? overlay.cursor : 0;
  const [header = '', ...lines] = overlayLines(state);
  const room = Math.max(1, height - 2);
  const top = Math.max(0, Math.min(cursor - Math.floor(room / 2), lines.length - room));
  return (
    <>
      <Row>{theme('accent', ` ${titleOf(state)}`)}</Row>
      <Row>{theme('heading', ` ${header}`)}</Row>
      {lines.slice(top, top + room).map((line, index) => {
        const isCurrent = top + index === cursor;
        const text = fit(`${isCurrent ? '▸' : ' '}${line}`, size.columns);
        return <Row key={index}>{isCurrent ? theme('current', text) : text}</Row>;
      })}
    </>
  );
}

function titleOf({ overlay, table }: State): string {
  switch (overlay.kind) {
    case 'none':
      return '';
    case 'runs':
      return `runs: ${overlay.runs.length}`;
    case 'roll-out':
      return rollOutTitle(overlay.rollOut);
    case 'help':
      return 'keys';
    case 'details':
      return `${visible(table.view.resource)} ${overlay.key}`;
    case 'pager':
      return overlay.title;
  }
}
