import { describe, expect, test } from 'vitest';
import { editPrompt, ghostOf } from '../../../src/tui/prompt/reduce-prompt.ts';
import { lineText, type EditKey } from '../../../src/tui/editor/line.ts';
import { initialState } from '../../../src/tui/initial-state.ts';
import type { PromptState } from '../../../src/tui/prompt/prompt-state.ts';

const HISTORY = [
  'user list lang=de',
  'devices',
  'user list lang=en --fold',
  'user add token=s3cret',
];

function prompt(typed: string, history: readonly string[] = HISTORY): PromptState {
  const { prompt: empty } = initialState({ columns: 80, rows: 24 });
  return press({ ...empty, history }, { kind: 'insert', text: typed });
}

function press(state: PromptState, ...keys: readonly EditKey[]): PromptState {
  return keys.reduce(editPrompt, state);
}

const line = (state: PromptState): string => lineText(state.editing.line);

describe('the ghost', () => {
  test.each([
    ['user', ' list lang=en --fold'],
    ['user list lang=d', 'e'],
    ['devices', ''],
    ['', ''],
    [' ', ''],
    ['nothing', ''],
    ['user\nlist', ''],
  ])('of "%s" is "%s": the rest of the newest line that begins so', (typed, ghost) => {
    expect(ghostOf(prompt(typed))).toBe(ghost);
  });

  test('is never a line with a secret in it', () => {
    expect(ghostOf(prompt('user add'))).toBe('');
  });

  test('is seen at the end of the line only', () => {
    expect(ghostOf(press(prompt('user'), { kind: 'left' }))).toBe('');
    expect(ghostOf(press(prompt('user'), { kind: 'left' }, { kind: 'right' }))).not.toBe('');
  });

  test.each(['right', 'end'] as const)('is taken whole by %s at the end', (kind) => {
    expect(line(press(prompt('user'), { kind }))).toBe('user list lang=en --fold');
  });

  test('is taken word by word, and given back by undo', () => {
    const one = press(prompt('us'), { kind: 'word-right' });
    expect(line(one)).toBe('user');
    const two = press(one, { kind: 'word-right' });
    expect(line(two)).toBe('user list');
    expect(line(press(two, { kind: 'undo' }))).toBe('user');
  });

  test('is not in the way of moving through the line', () => {
    const moved = press(prompt('user'), { kind: 'home' }, { kind: 'end' });
    expect(line(moved)).toBe('user');
  });
});
