import { Box } from 'ink';
import { memo, use } from 'react';
import { cut, fit } from '../../text/visible.ts';
import { plainLine } from '../screen/theme.ts';
import type { State } from '../state.ts';
import { tableWidth } from '../table/columns.ts';
import { tableRows } from '../table/rows.ts';
import { emptyLines, rowLine, type RowView, tableView } from '../table/view.ts';
import { paneLines } from '../views/details.ts';
import { DEVICES } from '../views/devices.ts';
import { useEdges } from './dialog.tsx';
import { KeysContext, Line } from './line.tsx';
import { List } from './list.tsx';

interface TableProps {
  readonly state: State;
  readonly height: number;
}

/** The records around the cursor, and the details of the current one if there is room. */
export function RecordTable({ state, height }: TableProps) {
  const hasKeys = use(KeysContext) === 'above';
  if (tableRows(state).rows.length === 0) return <NoRecords state={state} height={height} />;
  const width = tableWidth(state);
  const { header, top, rows } = tableView(state, width, height);
  return (
    <Box height={height}>
      <Box flexDirection="column" width={width} flexShrink={0}>
        <Line spans={plainLine(fit(header, width), 'head')} />
        {rows.map((row, index) => (
          <RecordRow key={top + index} {...row} width={width} hasKeys={hasKeys} />
        ))}
      </Box>
      {width < state.size.columns && <DetailPane state={state} height={height} />}
    </Box>
  );
}

interface RowProps extends RowView {
  readonly width: number;
  readonly hasKeys: boolean;
}

/** One record. The cursor colours the whole width of the table. Memoized: between frames most rows do not change. */
export const RecordRow = memo(function RecordRow({ width, hasKeys, ...view }: RowProps) {
  const ground = view.isCurrent && hasKeys ? 'plain' : undefined;
  return <Line spans={rowLine(view)} ground={ground} width={width} />;
});

/** The current record, field by field, behind a rule. */
export function DetailPane({ state, height }: TableProps) {
  const edges = useEdges();
  const width = state.size.columns - tableWidth(state) - 2;
  return (
    <Box
      flexDirection="column"
      height={height}
      width={width + 2}
      paddingLeft={1}
      borderStyle={edges}
      borderTop={false}
      borderRight={false}
      borderBottom={false}
    >
      {paneLines(state, width, height).map((spans, index) => (
        <Line key={index} spans={spans} />
      ))}
    </Box>
  );
}

/** The devices and their states until the first device responds; after that, why there is no record. */
function NoRecords({ state, height }: TableProps) {
  const { fleet, table, work, reading, size } = state;
  const isBusy = reading !== undefined || work !== undefined;
  const isWaiting = isBusy && fleet.devices.length > 0 && table.filter.parsed.terms.length === 0;
  const list = isWaiting ? DEVICES.list({ kind: 'devices', cursor: -1 }, state) : undefined;
  if (list !== undefined) return <List list={list} width={size.columns} height={height} />;
  const lines = emptyLines(state);
  const shown = lines.length > height ? lines.filter((line) => line !== '') : lines;
  return shown
    .slice(0, height)
    .map((line, index) => <Line key={index} spans={plainLine(cut(` ${line}`, size.columns))} />);
}
