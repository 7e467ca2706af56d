// The builds that are measured: this source, and with --compare another revision of it.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { whenEnding } from './cleanup.js';

export const ROOT = join(import.meta.dirname, '../..');

/**
 * Builds this source into a temporary folder.
 *
 * @param nodeOptions options of Node for each measured run
 */
export function buildThis(nodeOptions = []) {
  return build(ROOT, nodeOptions);
}

/** Whether git knows a commit by this name. */
export function isRevision(name) {
  const args = ['rev-parse', '--quiet', '--verify', '--end-of-options', `${name}^{commit}`];
  return spawnSync('git', args, { cwd: ROOT }).status === 0;
}

/** Builds a revision of this repository with the packages that are installed here. */
export function buildRevision(revision) {
  const source = temporaryFolder(join(tmpdir(), 'devsh-bench-'));
  const archive = join(source, 'source.tar');
  execFileSync('git', ['archive', '--output', archive, revision], { cwd: ROOT });
  execFileSync('tar', ['-xf', archive, '-C', source]);
  symlinkSync(join(ROOT, 'node_modules'), join(source, 'node_modules'));
  // Caches of another version are not read, and both may call themselves the same.
  const manifest = join(source, 'package.json');
  const data = JSON.parse(readFileSync(manifest, 'utf8'));
  writeFileSync(manifest, JSON.stringify({ ...data, version: `${data.version}-other` }));
  const [own, other] = [ROOT, source].map((at) => readFileSync(join(at, 'package-lock.json')));
  return { ...build(source), hasOtherPackages: !own.equals(other) };
}

/**
 * @returns `cli`, its file; `command`, how to start it for a measured run; `parts`, the file for
 *   `bundleParts`; `source`, what it was built from
 */
function build(source, nodeOptions = []) {
  // Below node_modules, so that the build finds its packages.
  const folder = temporaryFolder(join(ROOT, 'node_modules/.devsh-bench-'));
  const args = ['build.js', folder, ...(nodeOptions.length > 0 ? ['--source-maps'] : [])];
  execFileSync(process.execPath, args, { cwd: source, stdio: 'inherit' });
  // An older revision may have the other.
  const cli = ['cli.cjs', 'cli.js'].map((name) => join(folder, name)).find(existsSync);
  return {
    cli,
    command: [process.execPath, ...nodeOptions, cli],
    parts: join(folder, 'parts.js'),
    source,
  };
}

/** Homes stand where nobody else can write, as real ones: elsewhere Node keeps no compiled code for devsh. */
export const HOMES = join(ROOT, 'node_modules/.devsh-bench-home-');

export function temporaryFolder(prefix) {
  const folder = mkdtempSync(prefix);
  whenEnding(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
