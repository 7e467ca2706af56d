import { textOfLine } from '../../../src/tui/screen/theme.ts';
import { describe, expect, test } from 'vitest';
import { parseCompleteLine } from '../../../src/text/words.ts';
import type { FormField } from '../../../src/shell/records/form-fields.ts';
import { formCommand } from '../../../src/tui/form/form-runner.ts';
import { formId, type FormState, hasChanges } from '../../../src/tui/form/form-state.ts';
import { formBox, formCursor } from '../../../src/tui/form/form-view.ts';
import { contextOf } from '../../../src/tui/keys/keymap.ts';
import type { FormAction } from '../../../src/tui/keys/key-binding.ts';
import type { EditKey } from '../../../src/tui/editor/line.ts';
import type { State } from '../../../src/tui/state.ts';
import { layoutOf } from '../../../src/tui/screen/layout.ts';
import { countComputing } from '../../contention.ts';
import { after, stateOf, user } from '../table/table-fixture.ts';

function field(name: string, more: Partial<FormField> = {}): FormField {
  return {
    name,
    label: name,
    type: 'string',
    isRequired: false,
    isReadOnly: false,
    isSecret: false,
    value: '',
    fallback: '',
    origin: 'observed',
    ...more,
  };
}

const LANGUAGES = [
  { value: 'de', label: 'German' },
  { value: 'en', label: 'English' },
  { value: 'fr', label: 'French' },
];

const NEW: readonly FormField[] = [
  field('username', { label: 'Username', isRequired: true, maxLength: 5 }),
  field('lang', { label: 'Language', type: 'choice', choices: LANGUAGES, fallback: 'en' }),
  field('is_active', { label: 'Active', type: 'boolean', fallback: 'true' }),
  field('modified', { label: 'Modified', isReadOnly: true }),
  field('password', { label: 'Password', isSecret: true }),
  field('mtu', { label: 'MTU', type: 'integer', min: 68, max: 9216 }),
];

const VALUES: Readonly<Record<string, string>> = {
  username: 'bob',
  lang: 'en',
  is_active: 'true',
  modified: '2026-01-01',
  mtu: '1500',
};
const HELD = NEW.map((each) => ({ ...each, value: VALUES[each.name] ?? '', fallback: '' }));

const ADD = { action: 'add', resource: 'user', keys: [], on: '', device: undefined } as const;
const SET = { ...ADD, action: 'set', keys: ['bob'] } as const;

const start = stateOf({ fw1: [user('bob')] }, { columns: 80, rows: 24 });
const adding = after(start, { kind: 'form', opening: ADD, fields: NEW });
const changing = after(start, { kind: 'form', opening: SET, fields: HELD });

/** Past all fields, to the command. */
const TO_COMMAND = Array.from({ length: 20 }, () => 'next-field' as const);

function press(
  state: State,
  ...keys: readonly (FormAction | EditKey['kind'] | `"${string}`)[]
): State {
  return keys.reduce((now, key) => {
    if (key.startsWith('"')) {
      return after(now, { kind: 'edit', key: { kind: 'insert', text: key.slice(1) } });
    }
    return EDITS.has(key)
      ? after(now, { kind: 'edit', key: { kind: key } as EditKey })
      : after(now, { kind: 'view', action: key as FormAction });
  }, state);
}
const EDITS: ReadonlySet<string> = new Set(['erase-left', 'kill-left', 'undo', 'home']);

function formOf({ form }: State): FormState {
  if (form === undefined) throw new Error('no form is open');
  return form;
}

function screen(state: State, { columns, rows } = state.size): string[] {
  return formBox({ ...state, size: { columns, rows } })?.rows.map(textOfLine) ?? [];
}

describe('the command', () => {
  test('has what was typed and nothing else', () => {
    expect(formCommand(formOf(press(adding, '"carol', 'next-field', 'choice-next')))).toBe(
      'user add username=carol lang=fr',
    );
    expect(formCommand(formOf(changing))).toBe('user set bob');
    expect(formCommand(formOf(press(changing, '"by')))).toBe('user set bob username=bobby');
  });

  test('quotes values, and can empty a field', () => {
    expect(formCommand(formOf(press(adding, `"o'neil b`)))).toBe(`user add username="o'neil b"`);
    expect(formCommand(formOf(press(changing, 'kill-left')))).toBe('user set bob username=');
  });

  test('keeps words that start with a dash apart from options', () => {
    const opening = { ...SET, keys: ['-x'], on: '--on fw1' };
    const state = press(after(start, { kind: 'form', opening, fields: HELD }), '"y');
    expect(formCommand(formOf(state))).toBe('user set --on fw1 -- -x username=boby');
  });

  test('allows a wrong value that was warned of, and never before that', () => {
    const typed = press(changing, '"by', 'next-field', '"xxq', 'take-choice');
    expect(formCommand(formOf(typed))).toBe('user set bob username=bobby lang=xxq');
    const warned = formOf(after(typed, { kind: 'form-warn' }));
    expect(warned.cursor).toBe(1);
    expect(formCommand(warned)).toBe('user set bob username=bobby lang=xxq --allow invalid');
    const missing = after(press(adding, 'next-field', 'choice-next'), { kind: 'form-warn' });
    expect(formCommand(formOf(missing))).toBe('user add lang=fr');
  });

  test('keeps untypable characters of an edited value, and leaves out an unedited one', () => {
    const value = 'Al\x07ic\te\r\n\ud800';
    const opening = { ...SET, keys: ['alice'] };
    const fields = [field('first_name', { value }), field('note', { value })];
    const state = after(start, { kind: 'form', opening, fields });
    expect(formCommand(formOf(state))).toBe('user set alice');
    expect(screen(state).join('\n')).toMatch(/first_name +\[Al\^Gic\^Ie\^M⏎<U\+D800> /);
    const typed = formOf(press(state, '"x\x07y'));
    expect(formCommand(typed)).toBe(`user set alice first_name='${value}xy'`);
    expect(parseCompleteLine(formCommand(typed)).at(-1)?.text).toBe(`first_name=${value}xy`);
    expect(formCommand(formOf(press(state, '"x', 'erase-left')))).toBe('user set alice');
  });

  test('means a resource that is called like a command', () => {
    const opening = { ...SET, resource: 'run' };
    const state = press(after(start, { kind: 'form', opening, fields: HELD }), '"y');
    expect(formCommand(formOf(state))).toBe('resource run set bob username=boby');
  });

  test('has a choice of the device as it is', () => {
    const choices = [{ value: 'a\tb', label: 'A' }];
    const fields = [field('kind', { type: 'choice', choices, value: 'x' })];
    const state = after(start, { kind: 'form', opening: SET, fields });
    const picked = formOf(press(state, 'choice-next'));
    expect(formCommand(picked)).toBe("user set bob kind='a\tb'");
  });

  test('hides secrets where it is shown', () => {
    const state = press(adding, ...TO_COMMAND, 'previous-field', 'previous-field', '"s3cret');
    expect(formCommand(formOf(state))).toBe('user add password=s3cret');
    expect(formCommand(formOf(state), 'hidden')).toBe('user add password=•••');
    expect(screen(state).join('\n')).toContain('••••••');
    expect(screen(state).join('\n')).not.toContain('s3cret');
  });
});

test('of several records only what was touched is sent; a restored field is untouched', () => {
  const fields = [
    field('username', { value: '', mixed: ['ann', 'bob', 'eve'], isReadOnly: true }),
    field('lang', { value: '', mixed: ['de', 'en\x1b[2J', ''] }),
    field('city', { value: 'Ulm' }),
  ];
  const opening = { ...SET, keys: ['ann', 'bob', 'eve'], on: '--only fw1=eve', hidden: 1 };
  const open = after(start, { kind: 'form', opening, fields });
  expect(screen(open)[0]).toContain('user set (1 hidden by the filter) 3 keys: ann bob eve');
  expect(screen(open).join('\n')).toMatch(/username +\(mixed\)/);
  expect(screen(open).join('\n')).toMatch(/ mixed: de, en\^\[\[2J, empty;[^]*empty: each stays/);
  const typed = press(open, '"fr');
  expect(formCommand(formOf(typed))).toBe('user set ann bob eve lang=fr --only fw1=eve');
  expect(screen(typed).join('\n')).toContain('was de, en^[[2J, empty');
  const restored = press(typed, 'kill-left', 'next-field', '"m', 'erase-left');
  expect(formCommand(formOf(restored))).toBe('user set ann bob eve --only fw1=eve');
  expect(hasChanges(formOf(restored))).toBe(false);
});

test('the title counts many devices: the command below names them', () => {
  const opening = { ...SET, on: '--on fw1,fw2,fw3,fw4' };
  const open = after(start, { kind: 'form', opening, fields: [field('lang')] });
  expect(screen(open)[0]).toContain(' user set bob on 4 devices · ');
  expect(screen(open).join('\n')).toContain('--on fw1,fw2,fw3,fw4');
});

describe('fields', () => {
  test('that are read-only are passed over, and the command comes last', () => {
    const password = press(adding, 'next-field', 'next-field', 'next-field');
    expect(formOf(password).cursor).toBe(4);
    expect(contextOf(press(password, 'next-field', 'next-field', 'next-field'))).toBe('form-run');
    expect(screen(adding).find((row) => row.includes('Modified'))).toMatch(/read-only/);
  });

  test('that are true or false are two choices, from what a new record would get', () => {
    const active = press(adding, 'next-field', 'next-field');
    expect(contextOf(active)).toBe('form-choice');
    expect(formCommand(formOf(press(active, 'open-choices')))).toBe('user add is_active=false');
    expect(formCommand(formOf(press(active, 'open-choices', 'open-choices')))).toBe(
      'user add is_active=true',
    );
    expect(formCommand(formOf(press(active, 'open-choices', 'kill-left')))).toBe('user add');
  });

  test('that are true or false are shown in words, and sent as the device spells them', () => {
    const spelling = { yes: 'on', no: 'off' };
    const fields = [field('dhcp', { label: 'DHCP', type: 'boolean', value: 'on', spelling })];
    const state = after(start, { kind: 'form', opening: SET, fields });
    expect(screen(state).join('\n')).toMatch(/DHCP +\[yes/);
    expect(formCommand(formOf(press(state, 'open-choices')))).toBe('user set bob dhcp=off');
    expect(screen(press(state, 'open-choices')).join('\n')).toMatch(/DHCP +\[no +\] was yes/);
    expect(formCommand(formOf(press(state, '"n', 'take-choice')))).toBe('user set bob dhcp=off');
  });

  test('that are lists with choices are marked, in the order of the choices', () => {
    const nested = { kind: 'list', item: { kind: 'text' } } as const;
    const fields = [field('speaks', { type: 'list', choices: LANGUAGES, nested, value: 'fr' })];
    const state = after(start, { kind: 'form', opening: SET, fields });
    const open = press(state, 'open-choices');
    expect(screen(open).join('\n')).toMatch(/\[ \] de[^]*\[x\] fr/);
    const marked = press(open, '"d', '" ', '"eng', '" ');
    expect(formCommand(formOf(press(marked, 'take-choice')))).toBe(
      "user set bob speaks='de, en, fr'",
    );
    expect(formCommand(formOf(press(marked, '"f', '" ', '"d', '" ', '"e', '" ')))).toBe(
      'user set bob speaks=',
    );
    expect(formCommand(formOf(press(marked, 'close-choices')))).toBe('user set bob');
    expect(formCommand(formOf(press(state, 'choice-next', '"x', 'take-choice')))).toBe(
      'user set bob',
    );
    expect(formCommand(formOf(press(state, 'kill-left')))).toBe('user set bob speaks=');
  });

  test('with choices are picked by their display names', () => {
    const lang = press(changing, 'next-field');
    expect(contextOf(lang)).toBe('form-choice');
    const typing = press(lang, '"ger');
    expect(contextOf(typing)).toBe('form-pick');
    expect(screen(typing).join('\n')).toMatch(/de {2}German/);
    expect(screen(typing).join('\n')).not.toContain('French');
    const taken = press(typing, 'take-choice');
    expect(formCommand(formOf(taken))).toBe('user set bob lang=de');
    expect(screen(taken).join('\n')).toMatch(/~ Language +\[de · German +\] was en/);
  });

  test('show all choices on request, and are as before when none is taken', () => {
    const open = press(changing, 'next-field', 'open-choices');
    expect(screen(open).filter((row) => /German|English|French/.test(row))).toHaveLength(3);
    expect(formCommand(formOf(press(open, 'choice-next', 'take-choice')))).toContain('lang=fr');
    expect(formCommand(formOf(press(open, '"fr', 'close-choices')))).toBe('user set bob');
  });

  test('are checked while typing, against the facts of the device', () => {
    expect(screen(press(adding, '"abcdef')).join('\n')).toMatch(
      /▸~ Username.*\n? *✗ 6 characters, 5 at most/,
    );
    const mtu = press(adding, ...TO_COMMAND, 'previous-field');
    expect(screen(press(mtu, '"12')).join('\n')).toContain('✗ less than 68');
    expect(screen(press(mtu, '"12x')).join('\n')).toContain('✗ not a whole number');
    expect(screen(press(mtu, '"1500')).join('\n')).not.toContain('✗');
    expect(screen(press(adding, 'next-field')).join('\n')).toMatch(/Username.*required/);
  });
});

describe('sending', () => {
  const sent = press(adding, '"eva', 'next-field', 'choice-back');
  const end = { kind: 'form-end', id: formId(ADD), command: formCommand(formOf(sent)) } as const;

  test('is warned of once, at the first field that is wrong', () => {
    const state = after(press(adding, ...TO_COMMAND), { kind: 'form-warn' });
    expect(formOf(state).cursor).toBe(0);
    expect(screen(state).join('\n')).toContain('✗ required');
    expect(formOf(press(state, '"a')).isWarned).toBe(false);
  });

  test('that all devices took closes the form, and the next one begins empty', () => {
    const done = after(sent, { ...end, isDone: true, refusals: {} });
    expect(done.form).toBeUndefined();
    const again = after(done, { kind: 'form', opening: ADD, fields: NEW });
    expect(formCommand(formOf(again))).toBe('user add');
  });

  test('that was refused leaves all as typed, with the reason beside its field', () => {
    const refusals = { username: ['fw1: exists already'], lang: [], '': ['no'] };
    const state = after(sent, { ...end, isDone: false, refusals });
    expect(formOf(state).cursor).toBe(0);
    expect(formCommand(formOf(state))).toBe(end.command);
    expect(screen(state).find((row) => row.includes('Username'))).toContain('✗ fw1: exists alrea');
    expect(screen(press(state, '"x')).join('\n')).not.toContain('exists already');
  });

  test('that was refused as a whole says so above the command, until something is changed', () => {
    const refusals = { '': ['quota of 500 users reached, '.repeat(4)], badge: ['missing'] };
    const state = after(sent, { ...end, isDone: false, refusals });
    const rows = screen(state);
    expect(rows.at(-3)).toMatch(/^ {4}✗ quota of 500/);
    expect(rows.join(' ')).toContain('badge: missing');
    expect(rows.at(-1)).toContain('› user add username=eva lang=de');
    const edited = press(state, 'previous-field', '"n');
    expect(screen(edited).join('\n')).not.toContain('quota');
  });

  test('does not lose what was typed meanwhile', () => {
    const state = after(press(sent, 'previous-field', '"n'), {
      ...end,
      isDone: true,
      refusals: {},
    });
    expect(formCommand(formOf(state))).toBe('user add username=evan lang=de');
  });
});

test('a closed form keeps what was typed for the next time on the same record', () => {
  const closed = press(changing, '"by', 'next-field', '"fr', 'take-choice', 'close-form');
  expect(closed.form).toBeUndefined();
  const other = after(closed, { kind: 'form', opening: { ...SET, keys: ['eve'] }, fields: HELD });
  expect(formCommand(formOf(other))).toBe('user set eve');
  const again = after(closed, { kind: 'form', opening: SET, fields: HELD });
  expect(formCommand(formOf(again))).toBe('user set bob username=bobby lang=fr');
});

test('what becomes known of the fields leaves cursor and text', () => {
  const typed = press(adding, 'next-field', 'choice-next', 'previous-field', '"eva');
  const state = after(typed, { kind: 'form-fields', fields: [field('first_name'), ...NEW] });
  expect(formOf(state).cursor).toBe(1);
  expect(formCommand(formOf(state))).toBe('user add username=eva lang=fr');
});

describe.each([
  [40, 10],
  [80, 24],
  [200, 50],
])('on %i columns and %i rows', (columns, rows) => {
  const size = { columns, rows };
  const fields = Array.from({ length: 60 }, (_, index) => field(`field_${index}`));
  const opened = after(
    start,
    { kind: 'facts', facts: { size } },
    { kind: 'form', opening: ADD, fields },
  );

  test('the field with the cursor and the command are in sight, and nothing is too wide', () => {
    let state = opened;
    for (let at = 0; at < 60; at += 1) {
      const { body } = layoutOf(state);
      const shown = screen(state);
      expect(shown).toHaveLength(body);
      expect(shown.filter((row) => row.startsWith('▸'))).toEqual([
        expect.stringMatching(new RegExp(`^▸  field_${at} `)),
      ]);
      expect(shown.at(-1)).toContain('› user add');
      for (const row of shown) expect(row.length).toBeLessThanOrEqual(columns);
      const cursor = formCursor(state);
      expect(shown[(cursor?.row ?? 0) - 2]).toMatch(/^▸/);
      state = press(state, 'next-field');
    }
    expect(screen(state).at(-1)).toMatch(/^▸ › user add/);
  });

  test('a long text scrolls in its field, with the cursor in sight', () => {
    const state = press(opened, `"${'wide '.repeat(60)}`);
    const { column = -1 } = formCursor(state) ?? {};
    expect(column).toBeGreaterThan(0);
    expect(column).toBeLessThan(columns);
    for (const row of screen(state)) expect(row.length).toBeLessThanOrEqual(columns);
  });

  test('says each note once, beside its field or below it, and whole', () => {
    for (let columns = 44; columns < 120; columns += 1) {
      const text = screen({ ...adding, size: { columns, rows: 24 } }).join(' ');
      expect(text.match(/required ·/g)).toHaveLength(1);
      expect(text.replace(/[\s│]+/g, ' ')).toContain('required · up to 5 characters');
    }
  });

  test('open choices are in sight with the chosen one', () => {
    const choices = Array.from({ length: 90 }, (_, index) => ({
      value: `v${index}`,
      label: `Value number ${index}`,
    }));
    const state = after(
      start,
      { kind: 'facts', facts: { size } },
      {
        kind: 'form',
        opening: ADD,
        fields: [...fields.slice(0, 30), field('kind', { type: 'choice', choices }), ...fields],
      },
    );
    let open = state;
    while (contextOf(open) !== 'form-choice') open = press(open, 'next-field');
    open = press(open, 'open-choices', 'choice-back', 'choice-back');
    expect(screen(open).join('\n')).toMatch(/▸ +kind/);
    expect(screen(open).join('\n')).toMatch(/v88 +Value/);
    expect(formCommand(formOf(press(open, 'take-choice')))).toBe('user add kind=v88');
  });
});

describe('a megabyte pasted into a field', () => {
  const seconds = (work: () => unknown): number => {
    const computedMs = countComputing();
    work();
    return computedMs() / 1000;
  };

  test.each([
    ['one word', 'x'],
    ['words', 'ab cd '],
    ['Han signs', '漢'],
    ['what a terminal would obey', '\u202e'],
  ])('keeps no key waiting: %s', (_what, unit) => {
    const pasted = press(adding, `"${unit.repeat(1_000_000 / unit.length)}`);
    expect(seconds(() => screen(pasted))).toBeLessThan(2);
    expect(seconds(() => screen(press(pasted, 'next-field')))).toBeLessThan(2);
    expect(seconds(() => press(pasted, 'erase-left'))).toBeLessThan(2);
    expect(screen(press(pasted, 'kill-left'))).toEqual(screen(adding));
  });

  test('goes whole into the command, of which the beginning is shown', () => {
    const pasted = press(adding, `"${'x'.repeat(1_000_000)}`);
    expect(formCommand(formOf(pasted))).toBe(`user add username=${'x'.repeat(1_000_000)}`);
    const command = screen(pasted).join('\n').split('›')[1];
    expect(command).toMatch(/^ user add\n( {4}(username=)?x+\n)+ {4}x+…$/);
  });
});
