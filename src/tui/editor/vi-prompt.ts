import { editPrompt, actOnPrompt } from '../prompt/reduce-prompt.ts';
import type { EditKey } from './line.ts';
import type { PromptState } from '../state.ts';
import type { KeyEvent } from '../terminal/keys.ts';
import { leaveInsert, recorded, viKey } from './vi.ts';

/** Keys that move in normal mode, too. */
const SAME: Readonly<Record<string, string>> = {
  left: 'h',
  right: 'l',
  home: '0',
  end: '$',
  backspace: 'h',
  delete: 'x',
  space: 'l',
  up: 'k',
  down: 'j',
};

/** What a key means for vi at the prompt: a character of normal mode, or nothing. */
export function viCharacter({ vi, search }: PromptState, event: KeyEvent): string | undefined {
  if (vi?.mode !== 'normal' || search !== undefined) return undefined;
  if (event.kind === 'paste' || event.ctrl || event.meta) return undefined;
  // `r` and `f` take a blank as it is.
  const isTaken = /[rfFtT]$/.test(vi.pending) && event.text !== '';
  return isTaken ? event.text : (SAME[event.name] ?? (event.text === '' ? undefined : event.text));
}

/** Esc, or a character in normal mode. */
export function viPrompt(prompt: PromptState, key: 'escape' | { character: string }): PromptState {
  if (prompt.vi === undefined) return prompt;
  const { vi, editing, request } =
    key === 'escape'
      ? leaveInsert(prompt.vi, prompt.editing)
      : viKey(prompt.vi, prompt.editing, key.character);
  const isEdited = editing.line !== prompt.editing.line;
  const next = { ...prompt, vi, editing, ...(isEdited && { problem: undefined, menu: undefined }) };
  return request === undefined ? next : actOnPrompt(next, request);
}

/** A key that edits: in insert mode it is part of what `.` does again. */
export function editWithVi(prompt: PromptState, key: EditKey): PromptState {
  const edited = editPrompt(prompt, key);
  if (edited.vi === undefined || prompt.search !== undefined) return edited;
  return { ...edited, vi: recorded(edited.vi, key) };
}

/** Whether Esc belongs to vi before it leaves the prompt. */
export function takesEscape({ vi, search }: PromptState): boolean {
  return vi !== undefined && search === undefined && (vi.mode === 'insert' || vi.pending !== '');
}
