import { expect, test } from 'vitest';
import type { Event } from '../../../src/history/events.ts';
import type { State } from '../../../src/tui/state.ts';
import { changesIn } from '../../../src/tui/table/news.ts';
import { tableParts, tableView } from '../../../src/tui/table/view.ts';
import { after, stateOf, user } from './table-fixture.ts';

const AT = { life: '2026-01-02T03:04:05.000Z', resource: 'user', after: 1, before: 2 };

function event(kind: 'added' | 'gone' | 'changed', key: string, device = 'fw1'): Event {
  const base = { ...AT, device, key };
  if (kind !== 'changed') return { ...base, kind, record: { key, fields: { username: key } } };
  return { ...base, kind, fields: [{ field: 'lang', before: 'de', after: 'en', isSecret: false }] };
}

const fleet = stateOf({
  fw1: [user('ann'), user('bob'), user('eve')],
  fw2: [user('ann'), user('bob'), user('eve')],
});

const newsOf = (resource: string, ...events: Event[]): State =>
  after(fleet, { kind: 'facts', facts: { news: new Map([[resource, changesIn(events)]]) } });

const withNews = (...events: Event[]): State => newsOf('user', ...events);

const signs = (state: State): string[] =>
  tableView(state, 100, 20).rows.map(({ text }) => text.slice(1, 7).trimEnd());

test('a record that changed on any of its devices since the last look is marked', () => {
  const state = withNews(event('changed', 'bob', 'fw2'), event('gone', 'zoe'));
  expect(signs(state)).toEqual(['  ann', '∆ bob', '  eve']);
  expect(tableParts(state).map(({ text }) => text)).toContain(
    '∆ 1 changed, 1 gone since you last looked',
  );
});

test('marks belong to one resource', () => {
  const state = newsOf('interface', event('changed', 'bob'));
  expect(signs(state).join('')).not.toContain('∆');
});

test('a stranger is more urgent, a change of this moment most of all', () => {
  const strangers = { resource: 'user', reason: () => 'not in the file' };
  const state = after(withNews(event('changed', 'bob')), { kind: 'facts', facts: { strangers } });
  expect(signs(state)[1]).toBe('∉ bob');
  const changes = changesIn([event('added', 'bob'), event('added', 'bob', 'fw2')]);
  expect(signs({ ...state, table: { ...state.table, changes } })[1]).toBe('+ bob');
});

test('of several changes of a record what they come to counts', () => {
  expect(changesIn([event('added', 'bob'), event('changed', 'bob')])).toMatchObject({ added: 1 });
  expect(changesIn([event('gone', 'bob'), event('added', 'bob')])).toMatchObject({ removed: 0 });
  const { fields, removed } = changesIn([event('changed', 'bob'), event('gone', 'bob')]);
  expect([fields.size, removed]).toEqual([0, 1]);
});
