import type { LabelColor } from '../../fleet/inventory-schema.ts';
import type { ThemeName } from '../../text/choices.ts';
import { widthOf } from '../../text/visible.ts';

/** Kinds of highlighting. A colour never has a meaning that no sign or word has, too. */
export type Tone = keyof typeof COLORLESS;

/** The tones of the label colours in an inventory. */
export const LABEL_TONES = {
  red: 'bad',
  yellow: 'warning',
  green: 'good',
  blue: 'accent',
} as const satisfies Record<LabelColor, Tone>;

/** The background of a whole line: the row under the cursor, or the top bar, which may have the colour of a label. */
export type Ground = 'plain' | LabelColor;

/** Text in a tone, ready for the screen. */
export type Theme = (tone: Tone, text: string, ground?: Ground) => string;

type Environment = Readonly<Record<string, string | undefined>>;

/** The requested theme, or one that fits the terminal; undefined for 16 colours on a light background. */
export function themeFor(
  asked: ThemeName | undefined,
  env: Environment,
  isLight = hasLightGround(env),
): ThemeName | undefined {
  if (asked !== undefined) return asked;
  if (hasManyColors(env)) return isLight ? 'light' : 'dark';
  return isLight ? undefined : '16-colour';
}

export function createTheme(name: ThemeName | undefined, hasColor: boolean): Theme {
  const codes: ThemeCodes = hasColor && name !== undefined ? THEMES[name] : COLORLESS;
  return (tone, text, ground) => {
    const code = ground === undefined ? codes[tone] : codeOn(codes, tone, ground);
    return code === '' || text === '' ? text : `\x1b[${code}m${text}\x1b[0m`;
  };
}

/** The SGR code of a tone on a ground. A tone keeps its colour only on the plain ground of a theme with 256 colours. */
function codeOn(codes: ThemeCodes, tone: Tone, ground: Ground): string {
  const shade =
    codes === THEMES.dark ? '48;5;236' : codes === THEMES.light ? '48;5;254' : undefined;
  const isShade = ground === 'plain' && shade !== undefined;
  const label = ground === 'plain' ? '' : codes[LABEL_TONES[ground]];
  const parts = isShade ? [codes[tone], shade] : [label, COLORLESS[tone], '7'];
  return parts.filter((part) => part !== '').join(';');
}

function hasManyColors({ TERM = '', COLORTERM = '', FORCE_COLOR = '' }: Environment): boolean {
  if (FORCE_COLOR === '1') return false;
  if (FORCE_COLOR === '2' || FORCE_COLOR === '3') return true;
  return (
    /^(truecolor|24bit)$/.test(COLORTERM) || /256|direct|kitty|alacritty|ghostty|wezterm/.test(TERM)
  );
}

/** COLORFGBG is `15;0` for white on black, `0;15` for black on white. Some terminals write a word between them. */
function hasLightGround({ COLORFGBG = '' }: Environment): boolean {
  const ground = COLORFGBG.split(';').at(-1) ?? '';
  return ground === '7' || /^(9|1[0-5])$/.test(ground);
}

/** Whether a terminal's report of its background (OSC 11: `rgb:RRRR/GGGG/BBBB`) is a light colour. */
export function isLightColor(report: string): boolean | undefined {
  const parts = /^rgba?:([\da-f]{1,4})\/([\da-f]{1,4})\/([\da-f]{1,4})/i.exec(report)?.slice(1);
  if (parts === undefined) return undefined;
  const [red = 0, green = 0, blue = 0] = parts.map(
    (hex) => parseInt(hex, 16) / (16 ** hex.length - 1),
  );
  // Luma of ITU-R BT.601.
  return 0.299 * red + 0.587 * green + 0.114 * blue > 0.5;
}

/** Whether the locale names another character set than UTF-8. False without a locale. */
export function lacksUnicode({ LC_ALL, LC_CTYPE, LANG }: Environment): boolean {
  const locale = [LC_ALL, LC_CTYPE, LANG].find((one) => one !== undefined && one !== '');
  return locale !== undefined && !/utf-?8/i.test(locale);
}

/** The SGR parameters of each tone; empty for plain text. */
type ThemeCodes = Readonly<Record<Tone, string>>;

/** The tones without colours: only bold, underline and reverse. */
export const COLORLESS = {
  heading: '1',
  head: '1;4',
  good: '',
  bad: '1',
  warning: '1',
  quiet: '',
  plain: '',
  chosen: '7',
  accent: '1',
  match: '1;4',
  changed: '4',
} as const;

const SIXTEEN_COLORS: ThemeCodes = {
  ...COLORLESS,
  good: '92',
  bad: '91',
  warning: '93',
  accent: '96;1',
  changed: '96;4',
};

/** Each text colour has a contrast of at least 4.5 to 1. `38;5;n` is colour n of 256, `9n` one of the 16. */
export const THEMES: Readonly<Record<ThemeName, ThemeCodes>> = {
  dark: {
    ...COLORLESS,
    good: '38;5;114',
    bad: '38;5;210',
    warning: '38;5;221',
    quiet: '38;5;247',
    accent: '38;5;117;1',
    changed: '38;5;117;4',
  },
  light: {
    ...COLORLESS,
    good: '38;5;22',
    bad: '38;5;124',
    warning: '38;5;94',
    quiet: '38;5;240',
    accent: '38;5;25;1',
    changed: '38;5;25;4',
  },
  'high-contrast': {
    ...COLORLESS,
    good: '38;5;120;1',
    bad: '38;5;217;1',
    warning: '38;5;227;1',
    accent: '38;5;123;1',
    changed: '38;5;123;1;4',
  },
  '16-colour': SIXTEEN_COLORS,
  ascii: SIXTEEN_COLORS,
};

/** The ASCII replacements of our signs. Each is as wide as the sign, except the last one. */
const ASCII_SIGNS: Readonly<Record<string, string>> = {
  '▸': '>',
  '▾': 'v',
  '◂': '<',
  '›': '>',
  '●': '*',
  '◌': 'o',
  '○': '-',
  '✓': '+',
  '✗': 'x',
  '≠': '!',
  '…': '~',
  '·': '-',
  '•': '*',
  '─': '-',
  '━': '=',
  '│': '|',
  '┌': '+',
  '┐': '+',
  '└': '+',
  '┘': '+',
  '▇': '#',
  '▲': '^',
  '▼': 'v',
  '↑': '^',
  '↓': 'v',
  '←': '<',
  '→': '>',
  '⏎': '$',
  '–': '-',
  '↹': 'tab',
};

const SIGNS = new RegExp(`[${Object.keys(ASCII_SIGNS).join('')}]`, 'gu');

/** Matches `↓` as the name of a key, with the blanks of its column. It becomes `down`, because `v` is another key. */
const DOWN_KEY = /((?:^|·) +)↓((?: \S+)?)(?: {3}(?=  ))?/gm;

/** A frame with our signs in ASCII. Letters stay, because they are data of devices. */
export function withAsciiSigns(frame: string): string {
  return frame.replace(DOWN_KEY, '$1down$2').replace(SIGNS, (sign) => ASCII_SIGNS[sign] ?? '?');
}

/** A piece of a line in one tone. */
export interface Span {
  readonly tone: Tone;
  readonly text: string;
}

/** A line of the screen or of a box. */
export type TextLine = readonly Span[];

export function plainLine(text: string, tone: Tone = 'plain'): TextLine {
  return [{ tone, text }];
}

export function textOfLine(line: TextLine): string {
  return line.map(({ text }) => text).join('');
}

export function widthOfSpans(spans: readonly Pick<Span, 'text'>[]): number {
  return spans.reduce((sum, { text }) => sum + widthOf(text), 0);
}

/** Joins neighbours of the same tone, and drops empty spans, because Ink needs time for each span. */
export function joined(line: TextLine): Span[] {
  const all: Span[] = [];
  for (const { tone, text } of line) {
    const last = all.at(-1);
    if (last?.tone === tone) all[all.length - 1] = { tone, text: last.text + text };
    else if (text !== '') all.push({ tone, text });
  }
  return all;
}

/** Gives some characters of a line another tone. `letters` are in UTF-16 units from 0. */
export function stressed(line: TextLine, tone: Tone, letters: Iterable<number>): TextLine {
  const marked = new Set(letters);
  if (marked.size === 0) return line;
  const units = line.flatMap((span) => span.text.split('').map((text) => ({ ...span, text })));
  return joined(units.map((span, at) => (marked.has(at) ? { ...span, tone } : span)));
}

/** The positions at which `text` contains `wanted`. */
export function placesOf(wanted: string, text: string): number[] {
  const places: number[] = [];
  if (wanted === '') return places;
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length))
    places.push(at);
  return places;
}
