// Defers what packages prepare for texts in any script: most starts need none of it.
import { readFileSync } from 'node:fs';
import { editing } from './edit-package.js';

const text = new URL('../src/text/visible.ts', import.meta.url);
const [, narrow] = /^const NARROW = (.+);$/m.exec(readFileSync(text, 'utf8')) ?? [];
if (narrow === undefined) throw new Error(`${text.pathname} has changed: NARROW is not there`);

/** Creates the segmenter, which takes 10 ms, with the first text. */
function lateSegmenter(declaration) {
  const [, name, made] = /^const (\w+) = (.+);$/.exec(declaration);
  return [
    declaration,
    `let made; const ${name} = {segment: text => (made ??= ${made}).segment(text)};`,
  ];
}

/** The packages that cut the texts of a frame, most of which are ASCII. */
export const lateSegments = [
  editing('late-slice-ansi', /\/slice-ansi\/tokenize-ansi\.js$/, [
    lateSegmenter(
      "const GRAPHEME_SEGMENTER = new Intl.Segmenter(undefined, {granularity: 'grapheme'});",
    ),
  ]),
  editing('late-ansi-tokenize', /\/ansi-tokenize\/build\/tokenize\.js$/, [
    lateSegmenter('const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });'),
    [
      'of segmenter.segment(str)',
      `of ${narrow}.test(str)
  ? Array.from(str, (segment, index) => ({segment, index}))
  : segmenter.segment(str)`,
    ],
  ]),
];

/**
 * Emoji and segments take 10 to 30 ms to prepare, and most texts need neither. Only a sequence with a joiner
 * needs the full list of emoji, unless it joins two pictographs.
 */
export const lateStringWidth = editing('late-string-width', /\/string-width\/index\.js$/, [
  ['/^[\\u0020-\\u007E]*$/.test(string)', `${narrow}.test(string)`],
  lateSegmenter('const segmenter = new Intl.Segmenter();'),
  [
    'rgiEmojiRegex.test(segment) || isDoubleWidthNonRgiEmojiSequence(segment)',
    'isDoubleWidthNonRgiEmojiSequence(segment) || rgiEmojiRegex.test(segment)',
  ],
  [
    'const rgiEmojiRegex = /^\\p{RGI_Emoji}$/v;',
    `let joined, single;
const rgiEmojiRegex = {test: text => /^\\p{Emoji}/u.test(text) && (text.includes('\\u200D')
  ? (joined ??= /^\\p{RGI_Emoji}$/v)
  : (single ??= /^[\\p{Basic_Emoji}\\p{Emoji_Keycap_Sequence}\\p{RGI_Emoji_Flag_Sequence}\\p{RGI_Emoji_Modifier_Sequence}\\p{RGI_Emoji_Tag_Sequence}]$/v)).test(text)};`,
  ],
]);
