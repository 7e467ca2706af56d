import { expect, test } from 'vitest';
import { tableParts } from '../../../src/tui/table/view.ts';
import { after, readOf, stateOf } from './table-fixture.ts';

const bob = [{ id: '7', username: 'bob' }];

test.each([
  [[['lang', 'notes'], undefined], 'list omits lang, notes'],
  [[['lang'], ['lang', 'quota']], 'list omits lang, quota'],
  [[[], undefined], 'list omits fields'],
  [[undefined, undefined], undefined],
])('the title says what summaries leave out: %j', (omits, text) => {
  const names = ['fw1', 'fw2'];
  const reads = names.map((name, at) => ({ ...readOf(name, bob), omits: omits[at] }));
  const state = after(stateOf({ fw1: [], fw2: [] }), { kind: 'reads', reads });
  const parts = tableParts(state).map((part) => part.text);
  expect(parts.find((part) => part.startsWith('list omits'))).toBe(text);
});
