// Plugins of the bundle that a start needs to be quick. Each fails the build if a package has changed.
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/**
 * Keeps what every start needs in few files, because Node takes longer for a file than for its contents: a third
 * of a start. esbuild puts modules together that the same entry points reach, and each module that is imported
 * at run time is one; so each of them reaches `main`, too.
 *
 * @param starters import `main` and its like at run time
 */
export function fewFilesFor(main, starters) {
  return {
    name: 'few-files',
    setup(build) {
      build.onResolve({ filter: /^\..*\.tsx?$/ }, ({ kind, path, importer, resolveDir }) =>
        kind === 'dynamic-import' && !starters.includes(importer)
          ? { path: resolve(resolveDir, path), namespace: 'with-main' }
          : undefined,
      );
      build.onLoad({ filter: /./, namespace: 'with-main' }, ({ path }) => ({
        contents: `export * from ${JSON.stringify(path)};\nimport ${JSON.stringify(main)};`,
        resolveDir: dirname(path),
      }));
    },
  };
}

/** What string-width prepares for emoji and other scripts takes 25 ms, and most starts need none of it. */
export const lateStringWidth = {
  name: 'late-string-width',
  setup(build) {
    build.onLoad({ filter: /\/string-width\/index\.js$/ }, async ({ path }) => ({
      contents: replaced(await readFile(path, 'utf8'), path, [
        [
          'const segmenter = new Intl.Segmenter();',
          'let made; const segmenter = {segment: text => (made ??= new Intl.Segmenter()).segment(text)};',
        ],
        [
          'const emojiPrefixRegex = /^(?:\\p{RGI_Emoji}|',
          'let emoji; const emojiPrefixRegex = {test: text => emojiPrefixRegex.exec(text) !== null, exec: text => /^\\p{Emoji}/u.test(text) ? (emoji ??= emojiPrefix()).exec(text) : null};\n' +
            'const emojiPrefix = () => /^(?:\\p{RGI_Emoji}|',
        ],
      ]),
      loader: 'js',
    }));
  },
};

/** Ink takes each line apart into its cells again for each frame, half of its time: most lines stay, or only move. */
export const inkKeepsLines = {
  name: 'ink-keeps-lines',
  setup(build) {
    build.onLoad({ filter: /\/ink\/build\/output\.js$/ }, async ({ path }) => ({
      contents: replaced(await readFile(path, 'utf8'), path, [
        ['caches = new OutputCaches();', 'caches = keptCaches();'],
        [
          'export default class Output {',
          // Twice the lines of a large screen, in both spellings that Ink looks up.
          'let kept; const keptCaches = () => kept = kept?.styledChars.size < 400 ? kept : new OutputCaches();\n' +
            'export default class Output {',
        ],
      ]),
      loader: 'js',
    }));
  },
};

/** Replaces each text exactly once. */
function replaced(source, file, pairs) {
  return pairs.reduce((text, [from, to]) => {
    if (text.split(from).length !== 2)
      throw new Error(`${file} has changed: "${from}" is not there once`);
    return text.replace(from, () => to);
  }, source);
}
