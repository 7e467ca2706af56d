import type { LabelColor } from '../../fleet/inventory-schema.ts';
import type { ThemeName } from '../../text/choices.ts';
import { COLORLESS, THEMES, type ThemeCodes } from './themes.ts';

/** What may be stressed. Colours add to signs and words, and never stand alone. */
export type Tone =
  | 'heading'
  | 'good'
  | 'bad'
  | 'warning'
  | 'quiet'
  | 'plain'
  | 'current'
  | 'chosen'
  | 'accent'
  | 'match'
  | 'current-match'
  | 'changed';

/** How the colours that an inventory gives its labels look. */
export const LABEL_TONES = {
  red: 'bad',
  yellow: 'warning',
  green: 'good',
  blue: 'accent',
} as const satisfies Record<LabelColor, Tone>;

/** Text in a tone, ready for the screen. */
export type Theme = (tone: Tone, text: string) => string;

type Environment = Readonly<Record<string, string | undefined>>;

/** With its `0`: Ink does not take the short form for the end of a colour. */
const RESET = '\x1b[0m';

/**
 * The theme that was asked for, or one for what the terminal says of itself: how many colours it has, and
 * whether its background is light (COLORFGBG). Undefined: 16 colours on a light ground, where the
 * bright ones cannot be read.
 */
export function themeFor(asked: ThemeName | undefined, env: Environment): ThemeName | undefined {
  if (asked !== undefined) return asked;
  const isLight = hasLightGround(env);
  if (hasManyColors(env)) return isLight ? 'light' : 'dark';
  return isLight ? undefined : '16-colour';
}

export function createTheme(name: ThemeName | undefined, hasColor: boolean): Theme {
  const codes: ThemeCodes = hasColor && name !== undefined ? THEMES[name] : COLORLESS;
  return (tone, text) => {
    const code = codes[tone];
    return code === '' || text === '' ? text : `\x1b[${code}m${text}${RESET}`;
  };
}

function hasManyColors({ TERM = '', COLORTERM = '', FORCE_COLOR = '' }: Environment): boolean {
  if (FORCE_COLOR === '1') return false;
  if (FORCE_COLOR === '2' || FORCE_COLOR === '3') return true;
  return (
    /^(truecolor|24bit)$/.test(COLORTERM) || /256|direct|kitty|alacritty|ghostty|wezterm/.test(TERM)
  );
}

/** `15;0` is white on black, `0;15` black on white; some put a word between. */
function hasLightGround({ COLORFGBG = '' }: Environment): boolean {
  const ground = COLORFGBG.split(';').at(-1) ?? '';
  return ground === '7' || /^(9|1[0-5])$/.test(ground);
}
