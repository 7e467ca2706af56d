import { ANYWHERE_KEYS } from './anywhere-keys.ts';
import { FIRST_RUN_KEYS } from './first-run-keys.ts';
import { FORM_KEYS } from './form-keys.ts';
import { PROMPT_KEYS } from './prompt-keys.ts';
import { QUESTION_KEYS } from './question-keys.ts';
import { TABLE_KEYS } from './table-keys.ts';
import { VIEW_KEYS } from './view-keys.ts';
import type { Keymap } from './key-binding.ts';

/** Every key but those that edit a line (`line.ts`). Footer and help are made from it. */
export const KEYMAP: Keymap = [
  ...PROMPT_KEYS,
  ...FIRST_RUN_KEYS,
  ...TABLE_KEYS,
  ...VIEW_KEYS,
  ...FORM_KEYS,
  ...QUESTION_KEYS,
  ...ANYWHERE_KEYS,
];
