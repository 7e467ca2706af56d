// Counts what devsh offers, from the tables that declare it.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const TABLES = [
  'src/shell/commands/index.ts',
  'src/shell/grammar/options.ts',
  'src/tui/keys/default-keymap.ts',
  'src/settings/settings-table.ts',
  'src/device/profile-schema.ts',
];

/** Undefined for a work tree without these tables, and on a Node that cannot import them. */
export async function countTables(root) {
  if (!process.features.typescript || !TABLES.every((path) => existsSync(join(root, path))))
    return undefined;
  await import('./import-markdown.js');
  const parts = TABLES.map((path) => import(pathToFileURL(join(root, path)).href));
  const tables = Object.assign({}, ...(await Promise.all(parts)));
  const verbs = tables.COMMANDS.flatMap((command) => command.verbs);
  const options = [...new Set(tables.OPTIONS.map(({ key }) => key))];
  const servedBy = (key) => verbs.filter((verb) => verb.options?.includes(key)).length;
  return {
    verbs: verbs.length,
    options: options.length,
    optionsOfOneVerb: options.filter((key) => servedBy(key) === 1).length,
    keys: tables.KEYMAP.reduce((sum, { keys }) => sum + keys.length, 0),
    settings: tables.SETTING_ROWS.length,
    facts: countFacts(tables.profileJsonSchema()),
  };
}

/** Each fact that a profile can state; those of `create`, `update` and `remove`, and of each `list`, are the same. */
function countFacts({ properties = {} }, path = '') {
  return Object.entries(properties).reduce((sum, [name, fact]) => {
    const own = `${path}${name}`;
    if (/^(?:update|remove|resources\.(?:list|update))$/.test(own)) return sum;
    const group = name === 'resources' ? fact.additionalProperties : fact;
    const isGroup = group.properties !== undefined && name !== 'options';
    return sum + (isGroup ? countFacts(group, `${own}.`) : 1);
  }, 0);
}
