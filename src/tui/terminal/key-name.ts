import type { KeyEvent, KeyPress } from './keys.ts';

/** A key as the keymap names it: `ctrl-r`, `alt-b`, `shift-tab`, `G`, `?`, `pageup`. */
export type KeyName = string;

type Combination = Pick<KeyPress, 'name' | 'ctrl' | 'meta' | 'shift'>;

/** The keys that have a name instead of a character. */
export const plainKeyNames: readonly KeyName[] = [
  ...['enter', 'tab', 'escape', 'space', 'backspace', 'delete', 'insert'],
  ...['up', 'down', 'left', 'right', 'home', 'end', 'pageup', 'pagedown', 'clear'],
  ...Array.from({ length: 12 }, (_, index) => `f${index + 1}`),
];

/** Whether a text is the name of one press. */
export function isKeyName(text: string): boolean {
  const { name, ctrl, shift } = parseKey(text);
  // A terminal does not tell Ctrl-Shift-X from Ctrl-X.
  if (/^[^\s\p{C}]$/u.test(name)) return !(ctrl && shift);
  return plainKeyNames.includes(name);
}

/** Reads `ctrl-`, `alt-` and `shift-` in any order; an upper-case letter stands for Shift. */
export function parseKey(text: KeyName): Combination {
  const [, prefixes = '', last = text] = /^((?:(?:ctrl|alt|shift)-)*)(.+)$/su.exec(text) ?? [];
  const isCharacter = /^.$/su.test(last);
  const lower = isCharacter ? last.toLowerCase() : last;
  return {
    name: last === ' ' ? 'space' : lower,
    ctrl: prefixes.includes('ctrl-'),
    meta: prefixes.includes('alt-'),
    shift: prefixes.includes('shift-') || last !== lower,
  };
}

/** The name of a key, as `parseKey` reads it. */
export function keyLabel(key: Combination): KeyName {
  const upper = key.name.toUpperCase();
  const isLetter = /^.$/su.test(key.name) && upper.toLowerCase() === key.name;
  const isUpper = key.shift && isLetter && upper !== key.name && !key.ctrl && !key.meta;
  const prefixes = [key.ctrl && 'ctrl-', key.meta && 'alt-', key.shift && !isUpper && 'shift-'];
  return prefixes.filter((prefix) => prefix !== false).join('') + (isUpper ? upper : key.name);
}

export function matchesKey(event: KeyEvent, text: KeyName): boolean {
  if (event.kind === 'paste') return false;
  const wanted = parseKey(text);
  return (
    event.name === wanted.name &&
    event.ctrl === wanted.ctrl &&
    event.meta === wanted.meta &&
    event.shift === wanted.shift
  );
}
