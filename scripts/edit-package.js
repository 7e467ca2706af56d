// Edits of packages in the bundle. The build fails if a package has changed.
import { readFile } from 'node:fs/promises';

/** Replaces each text exactly once. */
export function replaced(source, file, pairs) {
  return pairs.reduce((text, [from, to]) => {
    if (text.split(from).length !== 2)
      throw new Error(`${file} has changed: "${from}" is not there once`);
    return text.replace(from, () => to);
  }, source);
}

/** A plugin that edits the one file of a package. */
export function editing(name, filter, pairs) {
  return {
    name,
    setup(build) {
      build.onLoad({ filter }, async ({ path }) => ({
        contents: replaced(await readFile(path, 'utf8'), path, pairs),
        loader: 'js',
      }));
    },
  };
}
