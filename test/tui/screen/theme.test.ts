import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import type { LabelColor } from '../../../src/fleet/inventory-schema.ts';
import { THEME_NAMES } from '../../../src/text/choices.ts';
import {
  COLORLESS,
  createTheme,
  LABEL_TONES,
  isLightColor,
  lacksUnicode,
  themeFor,
  THEMES,
  type Tone,
  withAsciiSigns,
} from '../../../src/tui/screen/theme.ts';
import { inputLine } from '../../../src/tui/prompt/input-line.ts';
import { Questions } from '../../../src/tui/questions.ts';
import { layoutOf } from '../../../src/tui/screen/layout.ts';
import { reduce } from '../../../src/tui/reduce.ts';
import { Store } from '../../../src/tui/store.ts';
import { after, stateOf, user } from '../table/table-fixture.ts';

type Rgb = readonly [number, number, number];

/** The bright eight of xterm's sixteen. */
const BRIGHT: readonly Rgb[] = [
  [127, 127, 127],
  [255, 0, 0],
  [0, 255, 0],
  [255, 255, 0],
  [92, 92, 255],
  [255, 0, 255],
  [0, 255, 255],
  [255, 255, 255],
];

/** The colour of SGR parameters as xterm shows it; undefined: the default one. */
function colorOf(code: string): Rgb | undefined {
  const [, number] = /38;5;(\d+)/.exec(code) ?? [];
  if (number !== undefined) return of256(Number(number));
  const [, bright] = /^9(\d)/.exec(code) ?? [];
  return bright === undefined ? undefined : BRIGHT[Number(bright)];
}

function of256(number: number): Rgb {
  if (number >= 232) {
    const grey = 8 + (number - 232) * 10;
    return [grey, grey, grey];
  }
  const level = (step: number): number => (step === 0 ? 0 : 55 + step * 40);
  const at = number - 16;
  return [level(Math.floor(at / 36)), level(Math.floor(at / 6) % 6), level(at % 6)];
}

/** Relative luminance and contrast as in WCAG 2.2. */
function luminance(color: Rgb): number {
  const [r, g, b] = color.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * (r ?? 0) + 0.7152 * (g ?? 0) + 0.0722 * (b ?? 0);
}

function contrast(a: Rgb, b: Rgb): number {
  const [dark = 0, light = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
}

const BLACK: Rgb = [0, 0, 0];
const DARK_GREY: Rgb = [40, 40, 40];
const WHITE: Rgb = [255, 255, 255];

test.each([
  ['dark', 4.5, [BLACK, DARK_GREY]],
  ['light', 4.5, [WHITE]],
  ['high-contrast', 7, [BLACK, DARK_GREY]],
  ['16-colour', 4.5, [BLACK]],
  ['ascii', 4.5, [BLACK]],
] as const)('text in the theme %s has a contrast of %d to 1', (name, least, grounds) => {
  for (const code of Object.values(THEMES[name])) {
    const color = colorOf(code);
    if (color === undefined) continue;
    for (const ground of grounds) {
      expect(contrast(color, ground), `${code} on ${ground.join()}`).toBeGreaterThanOrEqual(least);
    }
  }
});

test('without colours only bold, underline and reverse are left, in every theme', () => {
  for (const code of Object.values(COLORLESS)) expect(code).toMatch(/^([147](;[147])*)?$/);
  for (const name of THEME_NAMES) {
    const theme = createTheme(name, false);
    expect(theme('bad', 'x')).toBe('\x1b[1mx\x1b[0m');
    expect(theme('good', 'x')).toBe('x');
  }
});

test.each([
  [{ TERM: 'xterm-256color' }, 'dark'],
  [{ TERM: 'xterm-256color', COLORFGBG: '15;0' }, 'dark'],
  [{ TERM: 'xterm-256color', COLORFGBG: '0;15' }, 'light'],
  [{ TERM: 'xterm', COLORTERM: 'truecolor', COLORFGBG: '0;default;7' }, 'light'],
  [{ TERM: 'xterm' }, '16-colour'],
  [{ TERM: 'linux', COLORFGBG: '0;15' }, undefined],
  [{ TERM: 'xterm-256color', FORCE_COLOR: '1' }, '16-colour'],
  [{ TERM: 'xterm', FORCE_COLOR: '3' }, 'dark'],
])('a terminal that says %o gets the theme %s', (env, name) => {
  expect(themeFor(undefined, env)).toBe(name);
  expect(themeFor('high-contrast', env)).toBe('high-contrast');
});

test.each([
  ['rgb:ffff/ffff/ffff', true],
  ['rgb:fd/f6/e3', true],
  ['rgba:f/f/f/f', true],
  ['rgb:0000/2b2b/3636', false],
  ['rgb:8000/0000/0000', false],
  ['rgb:/ffff/ffff', undefined],
  ['white', undefined],
])('a terminal that reports the background %s has a light one: %s', (report, isLight) => {
  expect(isLightColor(report)).toBe(isLight);
});

test('what the terminal reports wins over COLORFGBG, which tmux and ssh take along', () => {
  const env = { TERM: 'xterm-256color', COLORFGBG: '15;0' };
  expect(themeFor(undefined, env, true)).toBe('light');
  expect(themeFor('dark', env, true)).toBe('dark');
});

test.each([
  [{}, false],
  [{ LANG: 'C' }, true],
  [{ LANG: 'en_US.UTF-8' }, false],
  [{ LANG: 'de_DE.utf8', LC_ALL: 'POSIX' }, true],
  [{ LANG: 'C', LC_CTYPE: 'UTF-8' }, false],
  [{ LANG: 'C', LC_ALL: '', LC_CTYPE: 'C.UTF-8' }, false],
  [{ LANG: 'de_DE.ISO-8859-1' }, true],
])('the locale %o lacks our signs: %s', (env, isLacking) => {
  expect(lacksUnicode(env)).toBe(isLacking);
});

test('in ASCII each of our signs has another one, and letters stay', () => {
  expect(withAsciiSigns('▸● fw1  ✗ fw2  … Jürgen 大輔 1↑')).toBe('>* fw1  x fw2  ~ Jürgen 大輔 1^');
});

test('in ASCII the down key is a word: v is another key', () => {
  const help = '   ↓ j                down\n   v                  mark';
  expect(withAsciiSigns(` esc back · ↓ scroll\n${help}\n   NAME ↓  LANG`)).toBe(
    ` esc back - down scroll\n${help.replace('↓ j   ', 'down j')}\n   NAME v  LANG`,
  );
});

test('the colour of a label is that of the prompt and of the question, and no word hangs on it', () => {
  const state = stateOf({ fw1: [user('bob')] });
  for (const [color, tone] of Object.entries(LABEL_TONES) as [LabelColor, Tone][]) {
    const fleet = { ...state.fleet, prompt: 'devsh PROD · fw1> ', color };
    const labelled = after({ ...state, focus: 'prompt' }, { kind: 'fleet', fleet });
    expect(inputLine(labelled)).toMatchObject({ color, label: '▸devsh PROD · fw1> ' });
    const store = new Store(labelled, reduce);
    void new Questions(store).ask({
      kind: 'confirm',
      text: 'PROD: add bob?',
      expected: 'y',
      color,
    });
    expect(layoutOf(store.state).question?.asked.at(-1)).toEqual([
      { tone, text: 'PROD: add bob?' },
    ]);
    for (const name of THEME_NAMES) {
      const shown = createTheme(name, true)(tone, 'PROD');
      expect(stripVTControlCharacters(shown)).toBe('PROD');
    }
    expect(createTheme('dark', true)(tone, 'PROD')).not.toBe('PROD');
  }
  const drawn = Object.values(LABEL_TONES).map((tone) => createTheme('dark', true)(tone, 'PROD'));
  expect(new Set(drawn).size).toBe(drawn.length);
});

test('the bar on top is drawn on one ground, in the colour of the label, with the words of its parts', () => {
  for (const name of [...THEME_NAMES, undefined]) {
    const theme = createTheme(name, name !== undefined);
    const bars = ['plain', ...(Object.keys(LABEL_TONES) as LabelColor[])] as const;
    for (const bar of bars) {
      const shown = theme('bad', '✗ fw3 timeout', bar);
      expect(stripVTControlCharacters(shown)).toBe('✗ fw3 timeout');
      expect(shown).toMatch(/[[;](7|48;5;\d+)m/);
    }
    const drawn = new Set(bars.map((bar) => theme('plain', 'PROD', bar)));
    expect(drawn.size).toBeGreaterThanOrEqual(name === undefined ? 1 : bars.length);
  }
  for (const [name, ground] of [
    ['dark', 236],
    ['light', 254],
  ] as const) {
    for (const code of Object.values(THEMES[name])) {
      const color = colorOf(code);
      if (color !== undefined)
        expect(contrast(color, of256(ground)), code).toBeGreaterThanOrEqual(4.5);
    }
  }
});
