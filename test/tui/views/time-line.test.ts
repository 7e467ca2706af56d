import { describe, expect, test } from 'vitest';
import type { Event } from '../../../src/history/events.ts';
import { foldEvents, eventText } from '../../../src/history/fold-events.ts';
import { table, type TableOutput } from '../../../src/shell/output.ts';
import type { State } from '../../../src/tui/state.ts';
import { entriesOf, restoreOf } from '../../../src/tui/views/change-entry.ts';
import { textOfLine } from '../../../src/tui/screen/theme.ts';
import { detailLines as linesOf } from '../../../src/tui/views/details.ts';
import { changeLines as linesOfChange } from '../../../src/tui/views/time-line.ts';
import { GUTTER } from '../../../src/text/fit-columns.ts';
import { listView } from '../../../src/tui/views/views.ts';
import { actionFor, after, stateOf, user } from '../table/table-fixture.ts';
import { listRows } from './list-rows.ts';

const NINE = Date.UTC(2026, 10, 22, 9);
const AT = { period: 'l', resource: 'user', after: NINE, before: NINE + 60_000 };

const gone = (key: string, device = 'fw1', more: Partial<Event> = {}): Event =>
  ({ ...AT, kind: 'gone', key, device, record: record(key), ...more }) as Event;

const added = (key: string, more: Partial<Event> = {}): Event =>
  ({ ...AT, kind: 'added', key, device: 'fw1', record: record(key), ...more }) as Event;

const changed = (key: string, more: Partial<Event> = {}): Event =>
  ({
    ...{ ...AT, kind: 'changed', key, device: 'fw1' },
    fields: [
      { field: 'lang', before: 'de', after: 'it', isSecret: false },
      { field: 'password', before: '***', after: '***', isSecret: true },
    ],
    ...more,
  }) as Event;

function record(key: string) {
  return { key, fields: { username: key, lang: 'de' } };
}

const press = (state: State, action: 'find' | 'details'): State =>
  after(state, { kind: 'view', action });

/** What `changes` yields for these events. */
function output(events: readonly Event[], by = 'not by a run of this devsh'): TableOutput {
  const changes = foldEvents(events);
  const rows = changes.map((one) => ({
    ...{ when: '', on: one.devices.join(', '), what: eventText(one.events[0]), by },
  }));
  return table('changes', ['when', 'on', 'what', 'by'], rows, { changes });
}

function opened(...events: readonly Event[]): State {
  return openedOf(output(events));
}

function openedOf(listed: TableOutput): State {
  const entries = entriesOf(listed);
  const overlay = { kind: 'time-line', command: 'changes', entries, cursor: 0 } as const;
  const state = after(stateOf({ fw1: [user('bob')] }), { kind: 'view', action: 'go-table' });
  return after(state, { kind: 'view-over', overlay });
}

const texts = (state: State): string[] => listRows(listView(state), state.size.columns - GUTTER);

const lineOf = (...events: readonly Event[]) => {
  const [entry] = entriesOf(output(events));
  return entry && restoreOf(entry);
};

const detailLines = (...about: Parameters<typeof linesOf>): string[] =>
  linesOf(...about).map(textOfLine);
const changeLines = (...about: Parameters<typeof linesOfChange>): string[] =>
  linesOfChange(...about).map(textOfLine);

describe('the time line', () => {
  test('cuts nothing while there is room', () => {
    const by = 'run 20261122-090000-k3qd7m: user set alice bob carol dave lang=it';
    const state = { ...openedOf(output([changed('bob')], by)), size: { columns: 160, rows: 30 } };
    expect(texts(state)[0]).toMatch(new RegExp(`fw1 {2}user bob: .*de → it.* {2}${by}$`));
  });

  test('has one row for what happened on several devices, and the newest first', () => {
    const state = opened(
      gone('jdoe'),
      gone('jdoe', 'fw2'),
      changed('bob', { after: NINE + 60_000, before: NINE + 120_000 }),
    );
    expect(texts(state)).toHaveLength(2);
    expect(texts(state)[0]).toContain('user bob: lang de → it');
    expect(texts(state)[1]).toMatch(/fw1, fw2 +user jdoe gone +not by a run/);
  });

  test('is filtered by the words and fields of a change', () => {
    const state = opened(gone('jdoe'), changed('bob'));
    const typed = (text: string): number =>
      listView(
        text
          .split('')
          .reduce(
            (now, one) => after(now, { kind: 'edit', key: { kind: 'insert', text: one } }),
            press(state, 'find'),
          ),
      )?.rows.length ?? 0;
    expect([typed('kind=gone'), typed('lang=it'), typed('fw1'), typed('nobody')]).toEqual([
      1, 1, 2, 0,
    ]);
  });

  test('shows before and after of each field, and of a secret only that it changed', () => {
    const [entry] = entriesOf(output([changed('bob')]));
    const lines = entry === undefined ? [] : changeLines(entry, 60);
    expect(lines.join('\n')).toMatch(/≠ lang +de +before\n +it +after\n≠ password +•+$/m);
    expect(lines.at(-1)).toContain('devsh keeps no secrets');
    expect(press(opened(changed('bob')), 'details').overlay.kind).toBe('change');
  });

  test('names the devices of each interval, and that a record is not there', () => {
    const later = { after: NINE + 30_000, before: NINE + 90_000 };
    const [entry] = entriesOf(output([gone('jdoe'), gone('jdoe', 'fw2', later)]));
    const text = (entry === undefined ? [] : changeLines(entry, 60)).join('\n');
    expect(text.match(/^\d.* on fw[12]$/gm)).toHaveLength(2);
    expect(text).toMatch(/^user jdoe gone\n[^]* +username +jdoe/);
  });

  test('fits every size', () => {
    const [entry] = entriesOf(output([changed('b'.repeat(300))]));
    for (const width of [38, 78, 198]) {
      const lines = entry === undefined ? [] : changeLines(entry, width);
      expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(width);
    }
  });

  test('control characters of a device do not reach the screen', () => {
    const state = opened(gone('a\u001b[31m\u0007'));
    expect(texts(state).join()).not.toMatch(/[\u0007\u001b]/);
  });
});

describe('the way back', () => {
  test('is the moment before the first reading that shows the change', () => {
    expect(lineOf(gone('jdoe'), gone('jdoe', 'fw2'))).toEqual({
      line: 'user restore jdoe --at 2026-11-22T09:00:59.999Z --on fw1,fw2',
    });
  });

  test('of a run is before that run, and of a new record its removal', () => {
    const author = { kind: 'run', run: '20261122-090000-k3qd7m', line: 'user add eve' } as const;
    expect(lineOf(added('eve', { author }))).toEqual({
      line: 'user restore eve --at 20261122-090000-k3qd7m --prune --on fw1',
    });
  });

  test('quotes keys, also those with a dash', () => {
    expect(JSON.stringify(lineOf(gone('a b')))).toContain("restore 'a b' ");
    expect(JSON.stringify(lineOf(gone('-x')))).toContain('--on fw1 -- -x"');
  });

  test('does not exist for what nobody wrote, or before the first reading', () => {
    const event: Event = {
      kind: 'identity',
      reason: 'pin',
      device: 'fw1',
      period: 'l',
      after: 1,
      before: 2,
    };
    expect(lineOf(event)).toEqual({ reason: 'this is no change of a record' });
    expect(lineOf(added('eve', { after: undefined }))).toEqual({
      reason: 'what was before its first reading is not known',
    });
  });

  test('has a key in the list and in the change', () => {
    expect(['time-line', 'change'].map((at) => actionFor('u', at as 'change'))).toEqual([
      'restore-change',
      'restore-change',
    ]);
    expect(actionFor('T', 'table')).toBe('changes');
  });
});

test('the details of a record end with its history', () => {
  const state = stateOf({ fw1: [user('bob')], fw2: [user('bob')] });
  const details = { kind: 'of-table', key: 'bob' } as const;
  const entries = entriesOf(output([changed('bob')]));
  const known = after(state, {
    kind: 'facts',
    facts: { recordHistory: { line: 'user changes -- bob', entries } },
  });
  expect(detailLines(known, details).at(-1)).toMatch(/user bob: lang de → it/);
  expect(detailLines(known, { ...details, key: 'eve' }).join('\n')).not.toContain('BETWEEN');
  const problem = 'no user "bob" in any reading';
  const unknown = after(state, {
    kind: 'facts',
    facts: { recordHistory: { line: 'user changes -- bob', entries: [], problem } },
  });
  expect(detailLines(unknown, details).at(-1)).toBe(`record history: ${problem}`);
});
