// Lets Node import a Markdown file as its text, as the bundle does (build.js): `import './import-markdown.js'`.
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

registerHooks({
  load: (url, context, nextLoad) =>
    url.endsWith('.md')
      ? {
          format: 'module',
          source: `export default ${JSON.stringify(readFileSync(fileURLToPath(url), 'utf8'))};`,
          shortCircuit: true,
        }
      : nextLoad(url, context),
});
