// Checks types like `tsc --noEmit`, then lints what may have other findings than in the last run, which is noted in
// node_modules/.cache. Rules that read types ask the program that was just checked: a program of their own would work out
// all types a second time.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { ESLint } from 'eslint';
import ts from 'typescript';
import { changesSince, stateOf } from './lint-changes.js';

const root = resolve(import.meta.dirname, '..');
const cache = join(root, 'node_modules/.cache/lint.json');

/** The program of tsconfig.json, and what is wrong with its types. Shares the notes of `tsc --noEmit`. */
function checkTypes() {
  const host = {
    ...ts.sys,
    onUnRecoverableConfigFileDiagnostic: (diagnostic) => {
      throw new Error(ts.flattenDiagnosticMessageText(diagnostic.messageText, '\n'));
    },
  };
  const config = ts.getParsedCommandLineOfConfigFile(join(root, 'tsconfig.json'), {}, host);
  const checked = ts.createIncrementalProgram({
    rootNames: config.fileNames,
    options: config.options,
    configFileParsingDiagnostics: config.errors,
  });
  const found = ts.getPreEmitDiagnostics(checked);
  checked.emit();
  const text = ts.formatDiagnostics(found, ts.createCompilerHost(config.options));
  return { program: checked.getProgram(), text };
}

const { program, text } = checkTypes();
process.stdout.write(text);

const eslint = new ESLint({
  cwd: root,
  overrideConfig: {
    files: ['**/*.ts', '**/*.tsx'],
    languageOptions: { parserOptions: { projectService: false, programs: [program] } },
  },
});
const files = [];
const endings = ['.ts', '.tsx', '.js', '.cjs', '.mjs'];
for (const path of ts.sys.readDirectory(root, endings, ['node_modules'])) {
  if (!(await eslint.isPathIgnored(path))) files.push(relative(root, path));
}
const state = stateOf(root, files);
const before = existsSync(cache) ? JSON.parse(readFileSync(cache, 'utf8')) : undefined;
const changed = new Set([...changesSince(before?.state, state), ...(before?.withFindings ?? [])]);
const linted = files.filter((path) => changed.has(path));
const results = linted.length > 0 ? await eslint.lintFiles(linted) : [];
const withFindings = results
  .filter(({ messages }) => messages.length > 0)
  .map(({ filePath }) => relative(root, filePath));
mkdirSync(dirname(cache), { recursive: true });
writeFileSync(cache, JSON.stringify({ state, withFindings }));
const formatter = await eslint.loadFormatter();
process.stdout.write(await formatter.format(results));
process.exitCode = text !== '' || results.some(({ errorCount }) => errorCount > 0) ? 1 : 0;
