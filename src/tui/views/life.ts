import { CancelledError, DevshError } from '../../errors.ts';
import { resourceWords } from '../../shell/commands/index.ts';
import type { Shell } from '../../shell/shell.ts';
import { visible } from '../../text/visible.ts';
import { quoteWord } from '../../text/words.ts';
import type { Details, Life, State, TimeLineEntry } from '../state.ts';
import type { Store } from '../store.ts';
import { ENTRY_COLUMNS, entriesOf } from './change-entry.ts';
import { fittedColumns } from './view.ts';

/** `user changes bob`: the line whose output is below the details of a record. */
function lifeLine({ table }: State, details: Details): string {
  const isOfTable = details.kind === 'of-table';
  const resource = isOfTable ? table.view.resource : details.drift.resource;
  const scope = isOfTable ? table.scope : details.drift.drift.devices.map(({ name }) => name);
  const on = scope === undefined ? '' : `--on ${quoteWord(scope.join(','))} `;
  const key = details.key === '' ? '' : `-- ${quoteWord(details.key)}`;
  return `${resourceWords(resource)} changes ${on}${key}`.trimEnd();
}

/** The life of the record of these details, as far as it is read. */
export function lifeLines(state: State, details: Details, width: number): readonly string[] {
  const { life } = state;
  if (life === undefined || life.line !== lifeLine(state, details)) return [];
  if (life.problem !== undefined) return ['', `record history: ${life.problem}`];
  if (life.entries.length === 0) return [];
  const { header, line } = fittedColumns(life.entries, ENTRY_COLUMNS, width);
  return ['', header, ...life.entries.map(line)];
}

/** Reads the life of a record when its details open. Returns the function that ends it. */
export function readLife(shell: Shell, store: Store): () => void {
  let shown: unknown;
  let stop = new AbortController();
  const read = async (line: string, { signal }: AbortController): Promise<void> => {
    const keep = (life: Omit<Life, 'line'>): void => {
      if (!signal.aborted) store.dispatch({ kind: 'facts', facts: { life: { line, ...life } } });
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
      if (!(error instanceof DevshError)) throw error;
      keep({ entries: [], problem: visible(error.message) });
    }
  };
  const unsubscribe = store.subscribe(() => {
    const { overlay } = store.state;
    const details = overlay.kind === 'details' ? overlay.details : undefined;
    if (details === shown) return;
    shown = details;
    stop.abort(new CancelledError());
    stop = new AbortController();
    if (details !== undefined) void read(lifeLine(store.state, details), stop);
  });
  return () => {
    unsubscribe();
    stop.abort(new CancelledError());
  };
}
