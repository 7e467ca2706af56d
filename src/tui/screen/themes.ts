import type { ThemeName } from '../../text/choices.ts';
import type { Tone } from './theme.ts';

/** SGR parameters by tone; empty: as all other text. */
export type ThemeCodes = Readonly<Record<Tone, string>>;

/** Bold, underline and reverse are no colours: they stay where colours are not wanted. */
export const COLORLESS: ThemeCodes = {
  heading: '1',
  good: '',
  bad: '1',
  warning: '1',
  quiet: '',
  plain: '',
  current: '7',
  chosen: '7',
  accent: '1',
  match: '1;4',
  'current-match': '7;1;4',
  changed: '1;7',
};

/**
 * Every theme. Text has a contrast of at least 4.5 to 1 on the background that the theme is for; what a
 * colour says is said in words or by a sign, too. `38;5;n` is colour n of 256, `9n` one of the 16.
 */
export const THEMES: Readonly<Record<ThemeName, ThemeCodes>> = {
  dark: {
    ...COLORLESS,
    good: '38;5;114',
    bad: '38;5;210',
    warning: '38;5;221',
    quiet: '38;5;247',
    accent: '38;5;117;1',
  },
  light: {
    ...COLORLESS,
    good: '38;5;22',
    bad: '38;5;124',
    warning: '38;5;94',
    quiet: '38;5;240',
    accent: '38;5;25;1',
  },
  'high-contrast': {
    ...COLORLESS,
    good: '38;5;120;1',
    bad: '38;5;217;1',
    warning: '38;5;227;1',
    accent: '38;5;123;1',
  },
  '16-colour': { ...COLORLESS, good: '92', bad: '91', warning: '93', accent: '96;1' },
  ascii: { ...COLORLESS, good: '92', bad: '91', warning: '93', accent: '96;1' },
};

/** What stands for a sign of ours where only ASCII can be shown; as wide as the sign, but for the last. */
const ASCII_SIGNS: Readonly<Record<string, string>> = {
  '▸': '>',
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
  '│': '|',
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

/** A frame with our signs in ASCII. Letters stay as they are: they are what a device holds. */
export function withAsciiSigns(frame: string): string {
  return frame.replace(SIGNS, (sign) => ASCII_SIGNS[sign] ?? '?');
}
