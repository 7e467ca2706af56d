// Measures src: what devsh offers, sizes and imports of files, and with --way the files that one command runs through.
// CONTRIBUTING.md explains the output.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import ts from 'typescript';
import { countTables } from './house-tables.js';
import { walkTheWay } from './house-way.js';

const SMALL = 40;
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    way: { type: 'boolean' },
    screen: { type: 'boolean' },
    list: { type: 'boolean' },
  },
});
// Another work tree can be measured for comparison.
const root = resolve(positionals[0] ?? fileURLToPath(new URL('..', import.meta.url)));

/** Each shipped source: its path below `src`, its lines, and its imports. */
function readSources() {
  const names = readdirSync(join(root, 'src'), { recursive: true })
    .map((name) => name.split(sep).join('/'))
    .filter((name) => /\.(tsx?|md)$/.test(name))
    .sort();
  return names.map((name) => {
    const text = readFileSync(join(root, 'src', name), 'utf8');
    const lines = text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
    return { name, lines, ...importsOf(name, text) };
  });
}

/** Imports of types and values. Imports at run time are `late`: they close no circle. */
function importsOf(name, text) {
  const [eager, late] = [new Set(), new Set()];
  const add = (found, literal) => {
    if (literal?.text.startsWith('.')) found.add(join(dirname(name), literal.text));
  };
  const visit = (node) => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) {
      add(eager, node.moduleSpecifier);
    } else if (ts.isImportTypeNode(node)) {
      add(eager, node.argument.literal);
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      add(late, node.arguments[0]);
    }
    ts.forEachChild(node, visit);
  };
  if (!name.endsWith('.md')) visit(ts.createSourceFile(name, text, ts.ScriptTarget.Latest, false));
  return { eager, late };
}

/** Sets of files that import each other, largest first (Tarjan's strongly connected components). */
function circlesOf(sources) {
  const byName = new Map(sources.map((source) => [source.name, source]));
  const [order, low, stack, circles] = [new Map(), new Map(), [], []];
  const visit = (name) => {
    order.set(name, order.size);
    low.set(name, order.get(name));
    stack.push(name);
    for (const next of byName.get(name)?.eager ?? []) {
      if (!order.has(next)) {
        visit(next);
        low.set(name, Math.min(low.get(name), low.get(next)));
      } else if (stack.includes(next)) {
        low.set(name, Math.min(low.get(name), order.get(next)));
      }
    }
    if (low.get(name) === order.get(name)) circles.push(stack.splice(stack.indexOf(name)));
  };
  for (const { name } of sources) if (!order.has(name)) visit(name);
  return circles.filter((one) => one.length > 1).sort((a, b) => b.length - a.length);
}

/** How many files import each one, at load or run time. */
function fanInOf(sources) {
  const importers = new Map(sources.map(({ name }) => [name, 0]));
  for (const { eager, late } of sources) {
    for (const name of new Set([...eager, ...late])) {
      importers.set(name, (importers.get(name) ?? 0) + 1);
    }
  }
  return [...importers].sort(([, a], [, b]) => b - a);
}

function medianOf(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}

const rowText = (name, ...numbers) =>
  `${name.padEnd(30)}${numbers.map((one) => String(one).padStart(8)).join('')}`;
const row = (...cells) => console.log(rowText(...cells));

function printTables({ verbs, options, optionsOfOneVerb, keys, settings, facts }) {
  row('verbs', verbs);
  console.log(`${rowText('options', options)} (${optionsOfOneVerb} serve one verb)`);
  row('keys', keys);
  row('settings', settings);
  row('facts', facts);
  console.log();
}

function printHouse(sources) {
  const fanIn = fanInOf(sources);
  const circles = circlesOf(sources);
  const smallFiles = sources.filter(({ lines }) => lines < SMALL);
  row('files', sources.length);
  row('lines', sumOf(sources));
  row('median', medianOf(sources.map(({ lines }) => lines)));
  row(`small files (under ${SMALL} lines)`, smallFiles.length);
  row('over 400 lines', sources.filter(({ lines }) => lines > 400).length);
  row('with one importer', fanIn.filter(([, count]) => count === 1).length);
  row('at the root of src', sources.filter(({ name }) => !name.includes('/')).length);
  row('circles', circles.length);
  for (const circle of circles) console.log(`  ${circle.length}: ${circle.sort().join(' ')}`);

  console.log('\nmost imported');
  for (const [name, count] of fanIn.slice(0, 15)) row(`  ${name}`, count);

  console.log();
  row('room', 'files', 'lines', 'median', 'small');
  for (const [folder, files] of byFolder(sources)) {
    const lines = files.map((one) => one.lines);
    const small = lines.filter((count) => count < SMALL).length;
    row(folder, files.length, sumOf(files), medianOf(lines), small);
  }
  row('sum', sources.length, sumOf(sources));
}

/** By the first level of `src`, its root first. */
function byFolder(sources) {
  const folders = new Map([['(root)', []]]);
  for (const source of sources) {
    const folder = source.name.includes('/') ? source.name.split('/', 1)[0] : '(root)';
    folders.set(folder, [...(folders.get(folder) ?? []), source]);
  }
  return folders;
}

function sumOf(sources) {
  return sources.reduce((sum, { lines }) => sum + lines, 0);
}

function printWay(title, ran) {
  const functions = [...ran.values()].flat();
  console.log(`\n${title}`);
  row('  files', ran.size);
  row('  functions', functions.filter((name) => name !== '').length);
  row('  functions without a name', functions.filter((name) => name === '').length);
  if (!values.list) return;
  for (const [file, names] of ran) {
    console.log(`  ${file}: ${names.filter((name) => name !== '').join(', ')}`);
  }
}

if (values.way) {
  await walkTheWay(root, values.screen ?? false, printWay);
} else {
  const tables = await countTables(root);
  if (tables !== undefined) printTables(tables);
  printHouse(readSources());
}
