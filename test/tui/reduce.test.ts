import { boxRows, questionLines } from './box-lines.ts';
import { describe, expect, test } from 'vitest';
import { contextOf } from '../../src/tui/keys/keymap.ts';
import { inputLine } from '../../src/tui/prompt/input-line.ts';
import { isTooSmall, layoutOf } from '../../src/tui/screen/layout.ts';
import { EMPTY_EDITING, lineText } from '../../src/tui/editor/line.ts';
import { NO_FIND, type State } from '../../src/tui/state.ts';
import { wrapText } from '../../src/text/wrap.ts';
import { actionFor, after, stateOf, user } from './table/table-fixture.ts';

const start = stateOf({ fw1: [user('alice')], fw2: [user('bob')] });
const typed = (state: State, text: string): State =>
  after(state, { kind: 'edit', key: { kind: 'insert', text } });
const line = (state: State): string => lineText(state.prompt.editing.line);

function completion(...texts: readonly string[]) {
  const proposals = texts.map((text) => ({ text, insert: `${text} `, letters: [] }));
  return { start: 5, end: 6, proposals };
}

describe('history', () => {
  const state = after(typed(start, 'dra'), { kind: 'history', lines: ['one', 'two three', 'two'] });
  const back = { kind: 'view', action: 'history-back' } as const;
  const forth = { kind: 'view', action: 'history-forth' } as const;

  test('goes back to the first line and forth to what was being typed', () => {
    expect(line(after(state, back))).toBe('two');
    expect(line(after(state, back, back, back, back))).toBe('one');
    expect(line(after(state, back, back, forth, forth))).toBe('dra');
  });

  test('is searched from the newest line on', () => {
    const search = { kind: 'view', action: 'search' } as const;
    const found = typed(after(state, search), 'TW');
    expect(inputLine(found).text).toBe('two');
    expect(inputLine(after(found, search)).text).toBe('two three');
    expect(line(after(found, search, { kind: 'view', action: 'search-accept' }))).toBe('two three');
    expect(line(after(found, { kind: 'view', action: 'search-cancel' }))).toBe('dra');
  });

  test('is searched again after another session has added to it', () => {
    const found = typed(after(state, { kind: 'view', action: 'search' }), 'tw');
    const added = after(found, { kind: 'history', lines: ['two', 'two four', 'one'] });
    expect(inputLine(added).text).toBe('two four');
  });
});

describe('completion', () => {
  const asked = typed(start, 'user b');
  const open = after(asked, {
    kind: 'menu',
    line: 'user b',
    completion: completion('bob', 'bill'),
  });

  test('one proposal goes into the line at once', () => {
    const one = after(asked, { kind: 'menu', line: 'user b', completion: completion('bob') });
    expect(line(one)).toBe('user bob ');
    expect(one.prompt.menu).toBeUndefined();
    // Also if it was offered between Tab and its answer.
    const asOffered = { kind: 'menu', line: 'user b', completion: completion('bob') } as const;
    const offered = after(asked, { ...asOffered, isOffered: true });
    expect(line(offered)).toBe('user b');
    expect(line(after(offered, asOffered))).toBe('user bob ');
  });

  test('several open a menu with none chosen; Tab chooses, Enter takes', () => {
    expect(line(open)).toBe('user b');
    expect(open.prompt.menu?.chosen).toBeUndefined();
    const chosen = after(open, { kind: 'view', action: 'menu-next' });
    expect(line(after(chosen, { kind: 'view', action: 'menu-accept' }))).toBe('user bob ');
    const last = after(open, { kind: 'view', action: 'menu-back' });
    expect(line(after(last, { kind: 'view', action: 'menu-accept' }))).toBe('user bill ');
  });

  test('typing accepts the chosen proposal, with one blank', () => {
    const chosen = after(open, { kind: 'view', action: 'menu-next' });
    expect(line(typed(chosen, ' '))).toBe('user bob ');
    expect(line(typed(chosen, 'x'))).toBe('user bob x');
  });

  test('an answer for a line that has changed since is dropped', () => {
    const late = after(typed(asked, 'x'), {
      kind: 'menu',
      line: 'user b',
      completion: completion('bob'),
    });
    expect(line(late)).toBe('user bx');
  });
});

/** What a question is about, without steps. */
function textsOf(texts: readonly string[]) {
  return { steps: [], below: texts.map((text) => ({ tone: 'plain', text }) as const) };
}

describe('questions', () => {
  const question = {
    id: 1,
    kind: 'secret',
    text: 'Password:',
    expected: undefined,
    isOpen: true,
    title: 'login',
    about: { steps: [], below: [] },
    unfolded: undefined,
    isUnfolded: false,
    find: NO_FIND,
    top: 0,
    editing: EMPTY_EDITING,
    complaint: undefined,
  } as const;

  test('get the keys while the prompt keeps its line; a secret is dots', () => {
    const state = typed(after(typed(start, 'user'), { kind: 'ask', question }), 'pä55');
    expect(inputLine(state)).toMatchObject({ label: '▸answer> ', text: '••••' });
    expect(line(state)).toBe('user');
  });

  test('wait for each other', () => {
    const state = after(
      start,
      { kind: 'ask', question },
      { kind: 'ask', question: { ...question, id: 2 } },
      { kind: 'answered', id: 1 },
    );
    expect(state.questions.map(({ id }) => id)).toEqual([2]);
  });

  test('a long plan can be scrolled, and the question stays in sight', () => {
    const about = textsOf(Array.from({ length: 100 }, (_, n) => `step ${n}`));
    const state = after(start, {
      kind: 'ask',
      question: { ...question, kind: 'confirm', text: 'Type 100:', about },
    });
    const shown = (one: State) => questionLines(one);
    expect(shown(state).at(-1)).toBe('Type 100:');
    const down = after(state, { kind: 'view', action: 'down' });
    expect(shown(down)).toContain('step 1');
    expect(shown(down)).not.toContain('step 0');
    const end = after(
      state,
      ...Array.from({ length: 99 }, () => {
        return { kind: 'view', action: 'page-down' } as const;
      }),
    );
    expect(shown(end)).toContain('step 99');
    expect(shown(after(end, { kind: 'view', action: 'up' }))).not.toContain('step 99');
  });

  test('take no key until they can have been read', () => {
    const fresh = { ...question, kind: 'confirm', isOpen: false } as const;
    const state = after(start, { kind: 'ask', question: fresh });
    expect(actionFor('enter', contextOf(state))).toBe(undefined);
    expect(typed(state, 'y').questions[0]?.editing.line.before).toBe('');
    const open = after(state, { kind: 'open-question', id: 1 });
    expect(typed(open, 'y').questions[0]?.editing.line.before).toBe('y');
    expect(contextOf(open)).toBe('question');
  });

  test('a plan is unfolded device by device, and folded again', () => {
    const about = textsOf(['add user bob on fw1, fw2']);
    const unfolded = textsOf(['add user bob on fw1, fw2', 'lang  de']);
    const toggle = { kind: 'view', action: 'unfold' } as const;
    const state = after(start, {
      kind: 'ask',
      question: { ...question, about, unfolded },
    });
    const shown = (one: State) => questionLines(one);
    expect(shown(state)).not.toContain('lang  de');
    expect(shown(after(state, toggle))).toContain('lang  de');
    expect(shown(after(state, toggle, toggle))).not.toContain('lang  de');
  });

  test('a plan is searched: the search has all keys, and Esc leaves nothing but the search', () => {
    const about = textsOf(
      Array.from({ length: 100 }, (_, n) => (n % 40 === 39 ? `odd ${n}` : `step ${n}`)),
    );
    const plan = { ...question, kind: 'confirm', about, unfolded: about } as const;
    const asked = after(start, { kind: 'ask', question: plan });
    const shown = (one: State) => questionLines(one);
    const found = (one: State) =>
      [layoutOf(one).question?.foundAt].flatMap((at) =>
        at === undefined ? [] : [about.below[at]?.text],
      );
    const open = after(asked, { kind: 'view', action: 'find' });
    expect(contextOf(open)).toBe('find');
    const searching = typed(open, 'odd');
    expect(inputLine(searching)).toMatchObject({ label: '▸search> ', text: 'odd' });
    expect(searching.questions[0]?.editing.line).toEqual(asked.questions[0]?.editing.line);
    expect(found(searching)).toEqual(['odd 39']);
    const next = after(searching, { kind: 'view', action: 'next-found' });
    expect(found(next)).toEqual(['odd 79']);
    expect(found(after(next, { kind: 'view', action: 'next-found' }))).toEqual(['odd 39']);
    const kept = after(next, { kind: 'view', action: 'keep-find' });
    expect([contextOf(kept), found(kept)]).toEqual(['plan', ['odd 79']]);
    const left = after(next, { kind: 'view', action: 'clear-find' });
    expect([contextOf(left), found(left)]).toEqual(['plan', []]);
    expect(shown(left)).toContain('odd 79');
    expect(left.questions).toHaveLength(1);
  });
});

describe('layout', () => {
  test('every row of the screen is given to exactly one part, on all sizes', () => {
    for (const columns of [40, 80, 120, 200]) {
      for (const rows of [10, 24, 40, 50]) {
        const state = after(
          typed(start, 'usr'),
          { kind: 'facts', facts: { size: { columns, rows } } },
          {
            kind: 'problem',
            problem: { message: 'there is no command "usr"', column: 0, suggestions: ['user'] },
          },
        );
        const { body, messages, under } = layoutOf(state);
        expect(4 + body + messages.length + boxRows(state) + under).toBe(rows);
        expect(body).toBeGreaterThanOrEqual(3);
      }
    }
  });

  test('below 40x10 there is only a message', () => {
    expect(
      isTooSmall(after(start, { kind: 'facts', facts: { size: { columns: 39, rows: 10 } } })),
    ).toBe(true);
    expect(
      isTooSmall(after(start, { kind: 'facts', facts: { size: { columns: 40, rows: 9 } } })),
    ).toBe(true);
    expect(
      isTooSmall(after(start, { kind: 'facts', facts: { size: { columns: 40, rows: 10 } } })),
    ).toBe(false);
  });

  test('a line longer than the screen scrolls with its cursor', () => {
    const state = typed(
      after(start, { kind: 'facts', facts: { size: { columns: 40, rows: 10 } } }),
      `user add ${'x'.repeat(60)}END`,
    );
    const { text, cursor } = inputLine(state);
    expect(text.endsWith('END')).toBe(true);
    expect(cursor).toBeLessThan(40);
    const home = after(state, { kind: 'edit', key: { kind: 'home' } });
    expect(inputLine(home).text.startsWith('user add')).toBe(true);
  });

  test('text wraps at blanks, and inside a word only where it must', () => {
    expect(wrapText('one two three', 8, '  ')).toEqual(['one two', '  three']);
    expect(wrapText('67:4F:A9:D5', 8)).toEqual(['67:4F:', 'A9:D5']);
    expect(wrapText('田中田中田中', 5)).toEqual(['田中', '田中', '田中']);
  });
});
