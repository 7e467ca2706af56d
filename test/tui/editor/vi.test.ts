import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { leaveInsert, recorded, viKey, VI_START, type ViStep } from '../../../src/tui/editor/vi.ts';
import { edit, EMPTY_EDITING, lineText } from '../../../src/tui/editor/line.ts';

/** A line with `|` in front of the character with the cursor, in normal mode. */
function normal(text: string): ViStep {
  const [before = '', after = ''] = text.split('|');
  return {
    vi: { ...VI_START, mode: 'normal' },
    editing: { ...EMPTY_EDITING, line: { before, after } },
  };
}

/** Keys as they are typed; `␛` is Esc. */
function type(from: ViStep, keys: string): ViStep {
  return Array.from(keys).reduce<ViStep>(({ vi, editing }, character) => {
    if (character === '␛') return leaveInsert(vi, editing);
    if (vi.mode === 'normal') return viKey(vi, editing, character);
    const key = { kind: 'insert', text: character } as const;
    return { vi: recorded(vi, key), editing: edit(editing, key) };
  }, from);
}

function shown({ vi, editing: { line } }: ViStep): string {
  return `${line.before}|${line.after}${vi.mode === 'insert' ? ' (insert)' : ''}`;
}

describe('moving', () => {
  test.each([
    ['|user list', 'w', 'user |list'],
    ['|lang=de x', 'w', 'lang|=de x'],
    ['|lang=de x', 'W', 'lang=de |x'],
    ['|lang=de x', '3w', 'lang=de |x'],
    ['user list|', 'b', 'user |list'],
    ['lang=de |x', 'B', '|lang=de x'],
    ['|user list', 'e', 'use|r list'],
    ['use|r list', 'e', 'user lis|t'],
    ['|user list', '$', 'user lis|t'],
    ['  us|er', '0', '|  user'],
    ['  us|er', '^', '  |user'],
    ['u|ser', 'h', '|user'],
    ['|user', 'h', '|user'],
    ['|user', '9l', 'use|r'],
    ['|a=b=c', 'f=', 'a|=b=c'],
    ['|a=b=c', '2f=', 'a=b|=c'],
    ['|a=b=c', 'f=;', 'a=b|=c'],
    ['|a=b=c', 'f=;,', 'a|=b=c'],
    ['|a=b=c', 't=', '|a=b=c'],
    ['a=b=|c', 'F=', 'a=b|=c'],
    ['a=b=|c', 'T=', 'a=b=|c'],
    ['|abc', 'fz', '|abc'],
    ['|表示 大', 'l', '表|示 大'],
    ['|👩‍👩‍👧x', 'l', '👩‍👩‍👧|x'],
  ])('%s, %s: %s', (from, keys, to) => {
    expect(shown(type(normal(from), keys))).toBe(to);
  });
});

describe('changing', () => {
  test.each([
    ['|user list', 'x', '|ser list'],
    ['|user list', '4x', '| list'],
    ['use|r', 'x', 'us|e'],
    ['us|er', 'X', 'u|er'],
    ['user |list x', 'dw', 'user |x'],
    ['|user list x', '2dw', '|x'],
    ['|user list x', 'd2w', '|x'],
    ['user li|st', 'db', 'user |st'],
    ['|user list', 'de', '| list'],
    ['user |list', 'D', 'user| '],
    ['user |list', 'd0', '|list'],
    ['us|er', 'dd', '|'],
    ['|a=b c', 'df=', '|b c'],
    ['|a=b c', 'dt=', '|=b c'],
    ['|a=b c', 'dtz', '|a=b c'],
    ['|user list', 'cwgroup', 'group| list (insert)'],
    ['|user list', 'cwgroup␛', 'grou|p list'],
    ['us|er', 'ccx', 'x| (insert)'],
    ['user |list', 'Cshow', 'user show| (insert)'],
    ['|user', 'sX', 'X|ser (insert)'],
    ['u|ser', 'rX', 'u|Xer'],
    ['u|ser', '3rX', 'uXX|X'],
    ['u|ser', '9rX', 'u|ser'],
    ['u|ser', '~', 'uS|er'],
    ['u|ser', 'ix', 'ux|ser (insert)'],
    ['u|ser', 'ax', 'usx|er (insert)'],
    ['us|er', 'Ix', 'x|user (insert)'],
    ['us|er', 'Ax', 'userx| (insert)'],
    ['|', 'ahello␛', 'hell|o'],
    ['|user list', 'yww', 'user |list'],
    ['|ab cd', 'dwp', 'cab| d'],
    ['|ab cd', 'dwP', 'ab| cd'],
    ['|ab', 'yyp', 'aa|bb'],
    ['|abc', 'xu', '|abc'],
    ['|a b c d', 'dw.', '|c d'],
    ['|a b c', 'cwX␛w.', 'X |X c'],
    ['|abc', 'x.', '|c'],
    ['|abc', 'ix␛.', '|xxabc'],
    ['|abc', 'dz', '|abc'],
    ['|abc', 'd␛x', '|bc'],
    ['|abc', '.', '|abc'],
  ])('%s, %s: %s', (from, keys, to) => {
    expect(shown(type(normal(from), keys))).toBe(to);
  });
});

test('j, k and / ask for the history', () => {
  expect(type(normal('|'), 'k').request).toBe('history-back');
  expect(type(normal('|'), 'j').request).toBe('history-forth');
  expect(type(normal('|'), '/').request).toBe('search');
});

test('whatever is typed, the line stays whole and the cursor on a character', () => {
  const key = fc.constantFrom(
    ...Array.from('hl0^$wWbBeEfFtT;,iIaAxXDCYSspPujk./~rdcy129=a表😀 \u0301␛'),
  );
  const text = fc.string({
    unit: fc.constantFrom('a', ' ', '=', 'ü', '表', '😀', 'e\u0301', '👍🏽'),
  });
  fc.assert(
    fc.property(text, fc.array(key, { maxLength: 40 }), (line, keys) => {
      const end = type(normal(`${line}|`), keys.join(''));
      const { vi, editing } = type(end, '␛␛');
      expect(lineText(editing.line)).not.toMatch(/\p{Cs}/u);
      expect(vi).toMatchObject({ mode: 'normal', pending: '' });
      if (lineText(editing.line) !== '')
        expect(type({ vi, editing }, 'l').editing.line.after).not.toBe('');
    }),
    { numRuns: 500 },
  );
});

test('undo brings back what was there before any number of changes', () => {
  const change = fc.constantFrom('x', 'dw', 'D', 'X', 'dd', 'p', '~', 'rz', 'cwab␛', 'Axy␛');
  fc.assert(
    fc.property(fc.array(change, { maxLength: 10 }), (changes) => {
      const start = normal('user |list lang=de');
      const end = type(start, changes.join('') + 'u'.repeat(60));
      expect(lineText(end.editing.line)).toBe('user list lang=de');
    }),
  );
});
