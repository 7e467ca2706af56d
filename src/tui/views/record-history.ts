import { CancelledError, expectedError } from '../../errors.ts';
import { resourceWords } from '../../shell/commands/index.ts';
import type { Shell } from '../../shell/shell.ts';
import { visible } from '../../text/visible.ts';
import { quoteWord } from '../../text/words.ts';
import type { Details, RecordHistory, State, TimeLineEntry } from '../state.ts';
import { plainLine, type TextLine } from '../screen/theme.ts';
import type { Store } from '../store.ts';
import { ENTRY_COLUMNS, entriesOf } from './change-entry.ts';
import { columnLine, fittedColumns } from './view.ts';

/** `user changes bob`: the line whose output is shown below the details of a record. */
function historyLine({ table }: State, details: Details): string {
  const isOfTable = details.kind === 'of-table';
  const resource = isOfTable ? table.view.resource : details.drift.resource;
  const scope = isOfTable ? table.scope : details.drift.drift.devices.map(({ name }) => name);
  const on = scope === undefined ? '' : `--on ${quoteWord(scope.join(','))} `;
  const key = details.key === '' ? '' : `-- ${quoteWord(details.key)}`;
  return `${resourceWords(resource)} changes ${on}${key}`.trimEnd();
}

/** The history of the record of these details, as far as it was read. */
export function recordHistoryLines(
  state: State,
  details: Details,
  width: number,
): readonly TextLine[] {
  const { recordHistory: history } = state;
  if (history === undefined || history.line !== historyLine(state, details)) return [];
  if (history.problem !== undefined) return [[], plainLine(`record history: ${history.problem}`)];
  if (history.entries.length === 0) return [];
  const columns = fittedColumns(history.entries, ENTRY_COLUMNS, width);
  return [
    [],
    columnLine(
      columns,
      ({ title }) => title,
      () => 'head',
    ),
    ...history.entries.map((entry) => columnLine(columns, (column) => column.text(entry))),
  ];
}

/** Reads the history of a record when its details open. Returns the function that ends it. */
export function readRecordHistory(shell: Shell, store: Store): () => void {
  let shown: unknown;
  let stop = new AbortController();
  const read = async (line: string, { signal }: AbortController): Promise<void> => {
    const keep = (history: Omit<RecordHistory, 'line'>): void => {
      if (!signal.aborted) store.know({ recordHistory: { line, ...history } });
    };
    const readInput = (): Promise<string> => Promise.resolve('');
    const io = { signal, isOnScreen: true, isBeside: true, readInput, trace: () => undefined };
    let entries: TimeLineEntry[] = [];
    try {
      for await (const output of shell.evaluate(shell.parse(line), io)) {
        if (output.kind === 'table') entries = entriesOf(output);
      }
      keep({ entries });
    } catch (error) {
      keep({ entries: [], problem: visible(expectedError(error).message) });
    }
  };
  const unsubscribe = store.subscribe(() => {
    const { overlay } = store.state;
    const details = overlay.kind === 'details' ? overlay.details : undefined;
    if (details === shown) return;
    shown = details;
    stop.abort(new CancelledError());
    stop = new AbortController();
    if (details !== undefined) void read(historyLine(store.state, details), stop);
  });
  return () => {
    unsubscribe();
    stop.abort(new CancelledError());
  };
}
