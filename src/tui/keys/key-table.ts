import type { KeyRow } from '../../shell/session.ts';
import { KEY_SECTIONS } from '../views/help-lines.ts';
import type { Keymap } from './key-binding.ts';

/** All keys, place by place, for those who read them outside the full screen. */
export function keyTable(keymap: Keymap): readonly KeyRow[] {
  return KEY_SECTIONS.flatMap(({ context: place, title }) =>
    keymap
      .filter(({ context }) => context === place)
      .map(({ keys, action, label, command }) => ({
        place,
        title,
        keys,
        action,
        label,
        ...(command !== undefined && { command }),
      })),
  );
}
