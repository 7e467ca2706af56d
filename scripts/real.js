// Runs devsh on real products over TLS, and compares each verb with what the product says of itself (test/real).
// Installs what is missing, as root; else it says which packages to install. Arguments go to vitest.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const PACKAGES = [
  'python3-djangorestframework',
  'rabbitmq-server',
  'icinga2-bin',
  'pdns-server',
  'pdns-backend-sqlite3',
  'syncthing',
];

const run = (command, args, env = {}) =>
  spawnSync(command, args, {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    env: { ...process.env, ...env },
    stdio: 'inherit',
  }).status ?? 1;

const missing = PACKAGES.filter((name) => !existsSync(`/var/lib/dpkg/info/${name}.list`));
if (missing.length > 0) {
  if (process.getuid?.() !== 0) {
    console.error(`Missing. As root: apt-get install --no-install-recommends ${missing.join(' ')}`);
    process.exit(1);
  }
  const quiet = { DEBIAN_FRONTEND: 'noninteractive' };
  const install = ['install', '-y', '-qq', '--no-install-recommends', ...missing];
  if (run('apt-get', ['update', '-qq']) !== 0 || run('apt-get', install, quiet) !== 0)
    process.exit(1);
}
process.exitCode = run(process.execPath, [
  'node_modules/vitest/vitest.mjs',
  ...['run', '--project', 'slow', '--project', 'real', 'test/real', ...process.argv.slice(2)],
]);
