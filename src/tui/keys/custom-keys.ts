import { SettingsError } from '../../errors.ts';
import { insteadOfName } from '../../text/former-names.ts';
import { suggest } from '../../text/suggest.ts';
import { KEYMAP } from './default-keymap.ts';
import type { Keymap, KeyBinding } from '../state.ts';
import { aliasBindings } from './alias-keys.ts';
import { isKeyName, keyLabel, type KeyName, parseKey, plainKeyNames } from '../terminal/keys.ts';
import type { Aliases } from '../../shell/grammar/aliases.ts';
import type { KeyRow } from '../../shell/services.ts';

/** As in the settings: the keys of actions, by place. */
export type CustomKeys = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

type Place = KeyBinding['context'];

const PLACES: readonly Place[] = [...new Set(KEYMAP.map(({ context }) => context))];

/** Places that take text: a key there needs Ctrl or Alt, or a name. */
const TYPED_IN: readonly Place[] = [
  'anywhere',
  'prompt',
  'menu',
  'search',
  'filter',
  'find',
  'palette',
  'form',
  'form-choice',
  'form-pick',
  'question',
  'plan',
  'plan-find',
];

/** Terminals have one code for both. */
const TWINS = { 'ctrl-i': 'tab', 'ctrl-m': 'enter', 'ctrl-j': 'enter', 'ctrl-[': 'escape' };

/** Escape, Ctrl-C, and Enter where it sends a line, always keep their meaning. */
function isReserved(place: Place, key: KeyName): boolean {
  if (key === 'escape' || key === 'ctrl-c') return true;
  return key === 'enter' && (place === 'prompt' || place === 'menu' || place === 'question');
}

/** Throws a `SettingsError` with every problem: unknown places, actions and keys, keys with two meanings. */
export function effectiveKeymap(own: CustomKeys, path: string, aliases?: Aliases): Keymap {
  const problems = [...unknownNames(own), ...unknownKeys(own)];
  const added = aliasBindings(aliases, problems).map((binding) => {
    const { keys, action, context } = binding;
    problems.push(...keys.flatMap((key) => keyProblems(key, action, context)));
    return { ...binding, keys: keys.map(normalized) };
  });
  if (Object.keys(own).length === 0 && added.length === 0 && problems.length === 0) return KEYMAP;
  const keymap = [...KEYMAP.map((binding) => withCustomKeys(binding, own)), ...added];
  if (problems.length === 0) problems.push(...conflicts(keymap));
  if (problems.length === 0) return keymap;
  throw new SettingsError(`${path}: ${problems.join('; ')}`);
}

function withCustomKeys(binding: KeyBinding, own: CustomKeys): KeyBinding {
  const { context, action, keys } = binding;
  const chosen = ownOf(ownOf(own, context) ?? {}, action);
  if (chosen === undefined) return binding;
  const kept = keys.filter((key) => isReserved(context, key) && !chosen.includes(key));
  return { ...binding, keys: [...chosen.map(normalized), ...kept] };
}

/** Normalized as in the keymap: `shift-g` is `G`. */
function normalized(keys: string): KeyName {
  return keys
    .split(' ')
    .map((key) => keyLabel(parseKey(key)))
    .join(' ');
}

function unknownNames(own: CustomKeys): string[] {
  return Object.entries(own).flatMap(([place, actions]) => {
    if (!PLACES.some((known) => known === place)) {
      return [`keys: unknown place "${place}"${suggestionText(place, PLACES)}`];
    }
    const known = KEYMAP.filter(({ context }) => context === place).map(({ action }) => action);
    return Object.keys(actions)
      .filter((action) => !known.some((name) => name === action))
      .map(
        (action) =>
          `keys.${place}: unknown action "${action}"` +
          (insteadOfName(action) ?? suggestionText(action, known)),
      );
  });
}

function unknownKeys(own: CustomKeys): string[] {
  return Object.entries(own).flatMap(([place, actions]) =>
    Object.entries(actions).flatMap(([action, keys]) =>
      keys.flatMap((key) => keyProblems(key, `keys.${place}.${action}`, place)),
    ),
  );
}

function keyProblems(key: string, where: string, place: string): string[] {
  const wrong = key.split(' ').find((press) => !isKeyName(press));
  if (wrong !== undefined) {
    return [`${where}: unknown key "${wrong}"${suggestionText(wrong, likelyKeys(wrong))}`];
  }
  const twin = key.split(' ').find((press) => Object.hasOwn(TWINS, press));
  if (twin !== undefined) {
    return [`${where}: terminals send "${twin}" as ${ownOf(TWINS, twin) ?? ''}`];
  }
  const [first = ''] = key.split(' ');
  const isTyped = /^.$/u.test(keyLabel(parseKey(first))) || first === 'space';
  if (!isTyped || !TYPED_IN.some((typed) => typed === place)) return [];
  return [`${where}: "${key}" types text there; use ctrl-${first} or alt-${first}`];
}

/** Spellings of other programs: `ctrl+x`, `control-x`, `esc`. */
function likelyKeys(key: string): string[] {
  const named = key
    .toLowerCase()
    .replace(/[+_]/g, '-')
    .replace(/^(?:control-|c-|\^)(?=.)/, 'ctrl-')
    .replace(/^(meta|m|option)-/, 'alt-')
    .replace(/\besc$/, 'escape')
    .replace(/\breturn$/, 'enter')
    .replace(/\bpg(?=up$)|\bpg(?=down$)/, 'page')
    .replace(/\bdel$/, 'delete')
    .replace(/\bbs$/, 'backspace');
  return isKeyName(named) ? [named] : [...plainKeyNames];
}

function suggestionText(word: string, known: readonly string[]): string {
  const [best] = known.length === 1 ? known : suggest(word, known);
  return best === undefined ? `, the names are ${known.join(', ')}` : `, did you mean "${best}"?`;
}

/** Keys with two meanings, except those that devsh's own keymap already has. */
function conflicts(keymap: Keymap): string[] {
  const before = new Set(overlaps(KEYMAP).map(({ id }) => id));
  return overlaps(keymap)
    .filter(({ id }) => !before.has(id))
    .map(({ text }) => text);
}

function overlaps(keymap: Keymap): { id: string; text: string }[] {
  return keymap.flatMap((one, index) =>
    keymap.slice(index + 1).flatMap((other) => {
      if (!canConflict(one.context, other.context)) return [];
      const key = one.keys.find((mine) => other.keys.some((its) => collide(mine, its)));
      if (key === undefined) return [];
      const [a, b] = [one, other].map(({ context, action }) => `${context}.${action}`);
      return [{ id: `${key} ${a} ${b}`, text: `the key ${key} is both ${a} and ${b}` }];
    }),
  );
}

/** Places may override each other on purpose; `anywhere` applies in all of them. */
function canConflict(one: Place, other: Place): boolean {
  return one === other || one === 'anywhere' || other === 'anywhere';
}

/** The same keys, or one is the beginning of the other, which could never be completed. */
function collide(one: KeyName, other: KeyName): boolean {
  return one === other || one.startsWith(`${other} `) || other.startsWith(`${one} `);
}

function ownOf<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

/** All keys by place, for use outside the full screen. */
export function keyTable(keymap: Keymap): readonly KeyRow[] {
  return keymap.map(({ context, place, keys, action, label, command }) => ({
    place: context,
    title: place,
    keys,
    action,
    label,
    ...(command !== undefined && { command }),
  }));
}
