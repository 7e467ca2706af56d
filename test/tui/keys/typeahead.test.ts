import { afterEach, expect, test, vi } from 'vitest';
import { formCommand } from '../../../src/tui/form/form-runner.ts';
import { formId } from '../../../src/tui/form/form-state.ts';
import { Questions, QUIET_MS, Typeahead } from '../../../src/tui/questions.ts';
import { contextOf } from '../../../src/tui/keys/keymap.ts';
import { reduce } from '../../../src/tui/reduce.ts';
import { Store } from '../../../src/tui/store.ts';
import { type KeyEvent, parseKey } from '../../../src/tui/terminal/keys.ts';
import { stateOf, user } from '../table/table-fixture.ts';

const OPENING = {
  action: 'set',
  resource: 'user',
  keys: ['bob'],
  on: '',
  device: undefined,
} as const;

const LANG = {
  name: 'lang',
  label: 'lang',
  type: 'string',
  isRequired: false,
  isReadOnly: false,
  isSecret: false,
  value: 'de',
  fallback: '',
  origin: 'observed',
} as const;

const key = (text: string): KeyEvent => ({ kind: 'key', text, ...parseKey(text) });

afterEach(() => vi.restoreAllMocks());

test('a form that closes by itself drops the rest of a typed word until a pause', () => {
  const clock = vi.spyOn(performance, 'now').mockReturnValue(10_000);
  const store = new Store({ ...stateOf({ fw1: [user('bob')] }), focus: 'table' }, reduce);
  const acted: string[] = [];
  let drops = 0;
  const ahead = new Typeahead(
    store,
    (event) => acted.push(event.kind === 'key' ? event.text : 'paste'),
    () => (drops += 1),
  );
  store.dispatch({ kind: 'form', opening: OPENING, fields: [LANG] });
  const { form } = store.state;
  if (form === undefined) throw new Error('no form');
  store.dispatch({
    kind: 'form-end',
    id: formId(form),
    command: formCommand(form),
    isDone: true,
    refusals: {},
  });
  expect(contextOf(store.state)).toBe('table');

  ahead.press(key('d'));
  // Each key that is typed makes it wait anew.
  clock.mockReturnValue(10_000 + QUIET_MS - 1);
  ahead.press(key('u'));
  clock.mockReturnValue(10_000 + 2 * QUIET_MS - 2);
  ahead.press(key('d'));
  expect([acted, drops]).toEqual([[], 3]);

  clock.mockReturnValue(10_000 + 4 * QUIET_MS);
  ahead.press(key('j'));
  expect([acted, drops]).toEqual([['j'], 3]);
});

test('a question that closes by itself leaves the rest of its answer to no line at the prompt', () => {
  const clock = vi.spyOn(performance, 'now').mockReturnValue(10_000);
  const store = new Store(stateOf({ fw1: [user('bob')] }), reduce);
  store.dispatch({ kind: 'set-line', line: 'user delete bob' });
  const acted: string[] = [];
  let drops = 0;
  const ahead = new Typeahead(
    store,
    (event) => acted.push(event.kind === 'key' ? event.name : 'paste'),
    () => (drops += 1),
  );
  const end = new AbortController();
  const questions = new Questions(store);
  void questions.ask({ kind: 'confirm', text: 'Type keep:', expected: 'keep', until: end.signal });
  store.dispatch({ kind: 'open-question', id: 1 });
  ahead.press(key('k'));
  end.abort();
  expect(contextOf(store.state)).toBe('prompt');
  ahead.press(key('e'));
  ahead.press(key('enter'));
  expect([acted, drops]).toEqual([['k'], 2]);

  clock.mockReturnValue(10_000 + QUIET_MS);
  ahead.press(key('enter'));
  expect(acted).toEqual(['k', 'enter']);
});
