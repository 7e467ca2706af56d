// Packs what goes to the registry: with the addresses that package.json does not know (repository, bugs,
// homepage, author), and with absolute links in the README.
// `npm run release -- --repository https://github.com/OWNER/devsh --author "NAME <MAIL>" [--output FOLDER] [--publish]`
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { pack } from './pack.js';

const root = resolve(import.meta.dirname, '..');

/** package.json with the addresses. Throws if one of them is missing or no address. */
export function publishedManifest(manifest, { repository, author }) {
  const missing = Object.entries({ repository, author }).filter(([, value]) => !value?.trim());
  if (missing.length > 0) {
    const options = missing.map(([name]) => `--${name}`).join(' and ');
    throw new Error(`nothing was packed: ${options} must be given, for package.json`);
  }
  const url = repository.replace(/(\.git)?\/*$/, '');
  if (!/^https:\/\/[^/\s]+\/[^/\s]+\/[^\s]*[^/\s]$/.test(url)) {
    throw new Error(`--repository: "${repository}" is not like https://github.com/OWNER/devsh`);
  }
  return {
    ...manifest,
    author,
    homepage: `${url}#readme`,
    bugs: { url: `${url}/issues` },
    repository: { type: 'git', url: `git+${url}.git` },
  };
}

/**
 * A page that names the repository, and whose relative links lead into it: in the registry there is nothing
 * beside it. Throws if a file is missing.
 */
export function withAbsoluteLinks(page, { repository, version }) {
  const url = repository.replace(/(\.git)?\/*$/, '');
  const named = page.replaceAll('https://github.com/OWNER/devsh', url);
  return named.replace(/\]\((?!https?:|mailto:|#)([^)\s]+)\)/g, (_link, to) => {
    const [path] = to.split('#');
    if (!existsSync(join(root, path))) throw new Error(`README.md links to ${path}: there is none`);
    const view = /\.(svg|png)$/.test(path) ? 'raw' : 'blob';
    return `](${url}/${view}/v${version}/${to})`;
  });
}

function main() {
  const { values } = parseArgs({
    options: {
      repository: { type: 'string' },
      author: { type: 'string' },
      output: { type: 'string', default: root },
      /** Also to the registry, with a statement of who built it: needs npm's token and a CI that vouches. */
      publish: { type: 'boolean', default: false },
    },
  });
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const published = publishedManifest(manifest, values);
  const { version } = manifest;
  if (!readFileSync(join(root, 'CHANGELOG.md'), 'utf8').includes(version)) {
    throw new Error(`nothing was packed: CHANGELOG.md does not mention ${version}`);
  }
  const readme = withAbsoluteLinks(readFileSync(join(root, 'README.md'), 'utf8'), {
    repository: values.repository,
    version,
  });
  const tarball = pack(
    values.output,
    (stage) => {
      writeFileSync(join(stage, 'package.json'), `${JSON.stringify(published, undefined, 2)}\n`);
      writeFileSync(join(stage, 'README.md'), readme);
    },
    published.bugs.url,
  );
  console.log(tarball);
  if (!values.publish) return;
  const args = ['publish', tarball, '--provenance', '--access', 'public'];
  const { status } = spawnSync('npm', args, {
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  process.exitCode = status ?? 1;
}

if (process.argv[1] === import.meta.filename) {
  try {
    main();
  } catch (error) {
    console.error(`release: ${error.message}`);
    process.exitCode = 1;
  }
}
