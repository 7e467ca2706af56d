import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  edit,
  editKeyOf,
  EMPTY_EDITING,
  lineText,
  type EditKey,
  type Editing,
  type Line,
} from '../../../src/tui/editor/line.ts';
import { parseKey } from '../../../src/tui/terminal/keys.ts';
import { countComputing } from '../../contention.ts';

type PlainKind = Exclude<EditKey['kind'], 'insert' | 'set'>;

/** The state with `|` as the cursor. */
function editing(text: string): Editing {
  const [before = '', after = ''] = text.split('|');
  return { ...EMPTY_EDITING, line: { before, after } };
}

function shown({ line }: Editing): string {
  return `${line.before}|${line.after}`;
}

function press(state: Editing, ...keys: (PlainKind | EditKey)[]): Editing {
  return keys.reduce((now, key) => edit(now, typeof key === 'string' ? { kind: key } : key), state);
}

const typed = (text: string): EditKey => ({ kind: 'insert', text });

describe('one key', () => {
  test.each<[string, PlainKind, string]>([
    ['ab|c', 'left', 'a|bc'],
    ['ab|c', 'right', 'abc|'],
    ['|ab', 'left', '|ab'],
    ['ab|', 'right', 'ab|'],
    ['ab|c', 'home', '|abc'],
    ['a|bc', 'end', 'abc|'],
    ['ab|c', 'erase-left', 'a|c'],
    ['ab|c', 'erase-right', 'ab|'],
    ['user set| bob', 'word-left', 'user |set bob'],
    ['user set   |', 'word-left', 'user |set   '],
    ['user| lang=de', 'word-right', 'user lang|=de'],
    ['add lang=de|', 'kill-word-left', 'add |'],
    ['add lang=de|', 'kill-part-left', 'add lang=|'],
    ['add |lang=de', 'kill-part-right', 'add |=de'],
    ['add |lang=de', 'kill-right', 'add |'],
    ['add |lang=de', 'kill-left', '|lang=de'],
    ['größe_1|', 'kill-part-left', '|'],
    ['👩‍👩‍👧|x', 'erase-left', '|x'],
    ['a|👍🏽b', 'erase-right', 'a|b'],
    ['e\u0301|', 'left', '|e\u0301'],
    ['🇩🇪🇫🇷|', 'erase-left', '🇩🇪|'],
    ['表示|', 'left', '表|示'],
    ['ok ❤️|', 'kill-word-left', 'ok |'],
  ])('%s, %s: %s', (from, key, to) => {
    expect(shown(press(editing(from), key))).toBe(to);
  });

  test('a pasted line end stays in the line, other control characters go', () => {
    expect(shown(press(editing('a|d'), typed('b\r\nc\x1b[2J\x07\u009b\t')))).toBe('ab\nc[2J |d');
  });

  test('half a character is not inserted', () => {
    expect(shown(press(editing('|'), typed('a\ud83db')))).toBe('ab|');
  });

  test('a line that is set has the cursor at its end, or where it says', () => {
    expect(shown(press(editing('x|'), { kind: 'set', line: 'user list' }))).toBe('user list|');
    const line: Line = { before: 'lang=', after: ' x' };
    expect(shown(press(editing('x|'), { kind: 'set', line }))).toBe('lang=| x');
  });
});

describe('kill and yank', () => {
  test('what was cut is put back at the cursor', () => {
    expect(shown(press(editing('one two|'), 'kill-word-left', 'home', 'yank'))).toBe('two|one ');
  });

  test('cuts in a row add up in the order of the line', () => {
    expect(press(editing('a b c|'), 'kill-word-left', 'kill-word-left').killed).toBe('b c');
    expect(press(editing('a |b c'), 'kill-word-left', 'kill-right').killed).toBe('a b c');
  });

  test('a cut after another key starts over, an empty cut keeps the earlier text', () => {
    expect(press(editing('a b|'), 'kill-word-left', 'left', 'kill-left').killed).toBe('a');
    expect(press(editing('a b|'), 'kill-word-left', 'end', 'kill-right').killed).toBe('b');
  });
});

describe('undo', () => {
  test('typing without a pause for another key goes back word by word', () => {
    const state = press(editing('|'), ...Array.from('add bob', typed));
    expect(shown(press(state, 'undo'))).toBe('add |');
    expect(shown(press(state, 'undo', 'undo'))).toBe('|');
    expect(shown(press(state, 'undo', 'undo', 'undo'))).toBe('|');
  });

  test('a paste is one step', () => {
    const state = press(editing('|'), typed('a'), typed('pasted text'));
    expect(shown(press(state, 'undo'))).toBe('a|');
  });
});

const plainKind = fc.constantFrom<PlainKind>(
  ...(['left', 'right', 'word-left', 'word-right', 'home', 'end', 'erase-left'] as const),
  ...(['erase-right', 'kill-left', 'kill-right', 'kill-word-left'] as const),
  ...(['kill-part-left', 'kill-part-right', 'yank', 'undo'] as const),
);
const anyText = fc.string({
  unit: fc.constantFrom('a', ' ', '=', 'ü', '表', '😀', '\u200d', '🇩', 'e\u0301', '\ufe0f', '👍🏽'),
});
const anyKey: fc.Arbitrary<EditKey> = fc.oneof(
  plainKind.map((kind) => ({ kind })),
  anyText.map(typed),
);

describe('any keys', () => {
  /** The same keys on a list of characters with an index: the obvious, slow way. */
  function model(keys: readonly EditKey[]): string {
    const characters: string[] = [];
    let at = 0;
    for (const key of keys) {
      if (key.kind === 'insert') {
        const added = Array.from(key.text);
        characters.splice(at, 0, ...added);
        at += added.length;
      } else if (key.kind === 'left') at = Math.max(0, at - 1);
      else if (key.kind === 'right') at = Math.min(characters.length, at + 1);
      else if (key.kind === 'home') at = 0;
      else if (key.kind === 'end') at = characters.length;
      else if (key.kind === 'erase-right') characters.splice(at, 1);
      else if (key.kind === 'kill-right') characters.splice(at);
      else if (key.kind === 'kill-left') {
        characters.splice(0, at);
        at = 0;
      } else if (key.kind === 'erase-left' && at > 0) characters.splice(--at, 1);
    }
    return `${characters.slice(0, at).join('')}|${characters.slice(at).join('')}`;
  }

  test('do what they do to a list of characters', () => {
    const kind = fc.constantFrom<PlainKind>(
      ...(['left', 'right', 'home', 'end'] as const),
      ...(['erase-left', 'erase-right', 'kill-left', 'kill-right'] as const),
    );
    const alone = fc.string({ unit: fc.constantFrom('a', 'B', ' ', '=', 'ü', '表', '😀') });
    const key = fc.oneof(
      kind.map((one) => ({ kind: one })),
      alone.map(typed),
    );
    fc.assert(
      fc.property(fc.array(key, { maxLength: 40 }), (keys) => {
        expect(shown(press(EMPTY_EDITING, ...keys))).toBe(model(keys));
      }),
    );
  });

  test('moves never change the text', () => {
    const move = fc.constantFrom<PlainKind>('left', 'right', 'word-left', 'word-right', 'home');
    fc.assert(
      fc.property(anyText, fc.array(move), (text, moves) => {
        expect(lineText(press(EMPTY_EDITING, typed(text), ...moves).line)).toBe(text);
      }),
    );
  });

  test('never leave half a character on either side', () => {
    fc.assert(
      fc.property(fc.array(anyKey, { maxLength: 30 }), (keys) => {
        const { line, killed } = press(EMPTY_EDITING, ...keys);
        for (const text of [line.before, line.after, killed]) expect(text).not.toMatch(/\p{Cs}/u);
      }),
    );
  });

  test('can be undone to the first line', () => {
    fc.assert(
      fc.property(anyText, fc.array(anyKey, { maxLength: 30 }), (text, keys) => {
        const first = { ...EMPTY_EDITING, line: { before: text, after: 'tail' } };
        let state = press(first, ...keys.filter((key) => key.kind !== 'undo'));
        while (state.undo.length > 0) state = press(state, 'undo');
        expect(lineText(state.line)).toBe(text + 'tail');
      }),
    );
  });

  test('a line of 100 KB is edited without delay', () => {
    const computedMs = countComputing();
    let state = press(EMPTY_EDITING, typed('set lang=de ü '.repeat(7500)));
    for (let count = 0; count < 1000; count++)
      state = press(state, 'erase-left', 'left', 'word-left');
    expect(computedMs()).toBeLessThan(1500);
    expect(state.line.after.length).toBeGreaterThan(0);
  });
});

describe('keys of the editor', () => {
  test.each<[string, PlainKind]>([
    ['ctrl-a', 'home'],
    ['ctrl-e', 'end'],
    ['ctrl-b', 'left'],
    ['ctrl-f', 'right'],
    ['ctrl-d', 'erase-right'],
    ['ctrl-h', 'erase-left'],
    ['ctrl-k', 'kill-right'],
    ['ctrl-u', 'kill-left'],
    ['ctrl-w', 'kill-word-left'],
    ['ctrl-y', 'yank'],
    ['ctrl-_', 'undo'],
    ['alt-b', 'word-left'],
    ['alt-f', 'word-right'],
    ['alt-d', 'kill-part-right'],
    ['alt-backspace', 'kill-part-left'],
    ['backspace', 'erase-left'],
    ['delete', 'erase-right'],
    ['ctrl-left', 'word-left'],
    ['ctrl-right', 'word-right'],
    ['home', 'home'],
  ])('%s is %s', (name, kind) => {
    expect(editKeyOf({ kind: 'key', text: '', ...parseKey(name) })).toEqual({ kind });
  });

  test('characters and pastes are inserted, other keys are for others', () => {
    expect(editKeyOf({ kind: 'key', ...parseKey('A'), text: 'A' })).toEqual(typed('A'));
    expect(editKeyOf({ kind: 'paste', text: 'a\nb' })).toEqual(typed('a\nb'));
    expect(editKeyOf({ kind: 'key', ...parseKey('enter'), text: '' })).toBeUndefined();
    expect(editKeyOf({ kind: 'key', ...parseKey('up'), text: '' })).toBeUndefined();
  });
});
