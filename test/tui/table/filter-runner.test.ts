import { expect, onTestFinished, test } from 'vitest';
import { filterInSlices } from '../../../src/tui/table/filter-runner.ts';
import { reduce } from '../../../src/tui/reduce.ts';
import { Store } from '../../../src/tui/store.ts';
import { tableRows } from '../../../src/tui/table/rows.ts';
import { stateOf, user } from './table-fixture.ts';

test('long tables are filtered between the keys, by the last that was typed', async () => {
  const users = Array.from({ length: 20_000 }, (_, n) => user(`u${n}`));
  const store = new Store({ ...stateOf({ fw1: users }), focus: 'table' }, reduce);
  onTestFinished(filterInSlices(store));
  store.dispatch({ kind: 'view', action: 'filter' });
  for (const text of 'u1999') store.dispatch({ kind: 'edit', key: { kind: 'insert', text } });
  expect(tableRows(store.state).rows).toHaveLength(20_000);

  await new Promise<void>((resolve) => {
    store.subscribe(() => {
      const { parsed, applied } = store.state.table.filter;
      if (parsed === applied) resolve();
    });
  });

  expect(tableRows(store.state).rows).toHaveLength(11);
});
