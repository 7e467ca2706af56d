// Which files may have other findings than before: rules that read types see all that a file imports, however far.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';

/** All findings depend on them. */
const COMMON = ['eslint.config.js', 'tsconfig.json', 'package-lock.json'];
/** Types that it declares hold in files that do not import it. */
const DECLARES_FOR_ALL = /^declare (global|module)\b/m;

/** The state of these files and of all that they import, to compare with `changesSince`. */
export function stateOf(root, files) {
  const textOf = (path) =>
    existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : '';
  const common = [process.version, ...COMMON.map(textOf)];
  const imports = {};
  const hashes = {};
  for (const path of files) {
    const text = textOf(path);
    imports[path] = importsOf(path, text);
    hashes[path] = hash(text);
    if (DECLARES_FOR_ALL.test(text)) common.push(text);
  }
  for (const path of Object.values(imports).flat()) hashes[path] ??= hash(textOf(path));
  return { common: hash(common), hashes, imports };
}

/** Files of `state` that are not as in the state before, and those that import any. Without one before: all. */
export function changesSince(before, { common, hashes, imports }) {
  const files = Object.keys(imports);
  if (before?.common !== common) return files;
  const changed = new Set(
    Object.keys({ ...before.hashes, ...hashes }).filter(
      (path) => before.hashes[path] !== hashes[path],
    ),
  );
  for (const path of changed) {
    for (const file of files) if (imports[file].includes(path)) changed.add(file);
  }
  return files.filter((path) => changed.has(path));
}

function importsOf(path, text) {
  return ts
    .preProcessFile(text, true, true)
    .importedFiles.filter(({ fileName }) => fileName.startsWith('.'))
    .map(({ fileName }) => join(dirname(path), fileName));
}

function hash(value) {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}
