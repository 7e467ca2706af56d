import { describe, expect, test } from 'vitest';
import { SettingsError } from '../../../src/errors.ts';
import { KEYMAP } from '../../../src/tui/keys/default-keymap.ts';
import { effectiveKeymap, type CustomKeys } from '../../../src/tui/keys/custom-keys.ts';
import { actionFor } from '../table/table-fixture.ts';

function keyed(own: CustomKeys) {
  return effectiveKeymap(own, 'settings.json');
}

function pressed(key: string, context: 'table' | 'prompt' | 'overlay', own: CustomKeys) {
  return actionFor(key, context, keyed(own));
}

test('without keys of the user the keymap is as it was', () => {
  expect(keyed({})).toEqual(KEYMAP);
});

test('an action has the keys of the user, and no longer its own', () => {
  const own = { table: { delete: ['t', 'ctrl-x d'], copy: [] } };
  expect(pressed('t', 'table', own)).toBe('delete');
  expect(pressed('d', 'table', own)).toBeUndefined();
  expect(pressed('y', 'table', own)).toBeUndefined();
});

test('a key that was freed can be used for another action', () => {
  const own = { table: { delete: ['t'], watch: ['d'] } };
  expect(pressed('d', 'table', own)).toBe('watch');
});

test('a capital letter can be written with shift', () => {
  expect(pressed('X', 'table', { table: { delete: ['shift-x'] } })).toBe('delete');
});

describe('what cannot be is refused by name', () => {
  test.each<[CustomKeys, string]>([
    [{ tabel: { delete: ['x'] } }, 'unknown place "tabel", did you mean "table"?'],
    [{ table: { delet: ['x'] } }, 'keys.table: unknown action "delet", did you mean "delete"?'],
    [
      { anywhere: { mouse: ['f8'] } },
      'unknown action "mouse"; devsh leaves the mouse to the terminal',
    ],
    [
      { table: { delete: ['ctrl+x'] } },
      'keys.table.delete: unknown key "ctrl+x", did you mean "ctrl-x"?',
    ],
    [{ table: { delete: ['pgdown'] } }, 'unknown key "pgdown", did you mean "pagedown"?'],
    [{ table: { delete: ['Esc'] } }, 'unknown key "Esc", did you mean "escape"?'],
    [{ table: { delete: ['a'] } }, 'the key a is both table.add-form and table.delete'],
    [
      { table: { delete: ['ctrl-c'] } },
      'the key ctrl-c is both table.delete and anywhere.interrupt',
    ],
    [{ table: { delete: ['escape'] } }, 'the key escape is both table.back and table.delete'],
    [{ prompt: { search: ['enter'] } }, 'the key enter is both prompt.run-line and prompt.search'],
    [
      { anywhere: { suspend: ['ctrl-r'] } },
      'the key ctrl-r is both prompt.search and anywhere.suspend',
    ],
    [{ prompt: { search: ['x'] } }, '"x" types text there; use ctrl-x or alt-x'],
    [{ table: { delete: ['ctrl-m'] } }, 'terminals send "ctrl-m" as enter'],
    [{ table: { delete: ['g d'] } }, 'the key g is both'],
  ])('%j', (own, message) => {
    expect(() => keyed(own)).toThrow(SettingsError);
    expect(() => keyed(own)).toThrow(message);
    expect(() => keyed(own)).toThrow(/^settings\.json: /);
  });

  test('all of it at once', () => {
    const own = { tabel: {}, table: { delet: [], delete: ['ctlr-x'] } };
    expect(() => keyed(own)).toThrow(/tabel.*delet".*ctlr-x/);
  });
});

test('Esc, Ctrl-C and Enter at the prompt cannot be lost', () => {
  const own = {
    prompt: { 'run-line': ['ctrl-o'], 'go-table': [] },
    overlay: { close: ['t'] },
    anywhere: { interrupt: ['ctrl-q'] },
  };
  expect(pressed('enter', 'prompt', own)).toBe('run-line');
  expect(pressed('ctrl-o', 'prompt', own)).toBe('run-line');
  expect(pressed('escape', 'prompt', own)).toBe('go-table');
  expect(pressed('escape', 'overlay', own)).toBe('close');
  expect(pressed('q', 'overlay', own)).toBeUndefined();
  expect(pressed('ctrl-c', 'table', own)).toBe('interrupt');
});
