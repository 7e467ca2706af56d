import {
  ANYWHERE_KEYS,
  FIRST_RUN_KEYS,
  FORM_KEYS,
  PROMPT_KEYS,
  QUESTION_KEYS,
} from './prompt-keys.ts';
import { TABLE_KEYS } from './table-keys.ts';
import { VIEW_KEYS } from './view-keys.ts';
import type { Keymap } from '../state.ts';

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
