// Builds the npm package, independent of dist: `node scripts/pack.js FOLDER` puts devsh-VERSION.tgz into
// FOLDER and prints its path.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const FILES = ['package.json', '.npmignore', 'README.md', 'LICENSE', ...files];

/**
 * Returns the path of the tarball.
 *
 * @param edit called with the folder of the files before they are packed
 * @param bugs where bugs are reported
 */
export function pack(folder, edit = () => undefined, bugs = '') {
  const stage = mkdtempSync(join(tmpdir(), 'devsh-pack-'));
  try {
    for (const file of FILES.filter((name) => name !== 'dist' && existsSync(join(root, name)))) {
      cpSync(join(root, file), join(stage, file), { recursive: true });
    }
    const run = (...args) =>
      execFileSync(process.execPath, args, {
        cwd: root,
        env: { ...process.env, DEVSH_BUGS: bugs },
        stdio: ['ignore', 'ignore', 'inherit'],
      });
    run('build.js', join(stage, 'dist'));
    edit(stage);
    mkdirSync(folder, { recursive: true });
    const packed = execFileSync(
      'npm',
      ['pack', '--json', '--ignore-scripts', '--pack-destination', resolve(folder)],
      {
        cwd: stage,
        stdio: ['ignore', 'pipe', 'ignore'],
        encoding: 'utf8',
        shell: process.platform === 'win32',
      },
    );
    const [{ filename }] = Object.values(JSON.parse(packed));
    return join(resolve(folder), filename);
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

if (process.argv[1] === import.meta.filename) console.log(pack(process.argv[2] ?? root));
