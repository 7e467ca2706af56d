// Makes devsh-VERSION-PLATFORM-ARCH.tar.gz, which includes Node, for machines without it:
// `npm run package -- [--node PROGRAM] [--strip] [--output FOLDER]`.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { pack } from './pack.js';
import { withNode } from './third-party.js';

const root = resolve(import.meta.dirname, '..');
const { values } = parseArgs({
  options: {
    /** The Node to include; its platform becomes the tarball's. */
    node: { type: 'string', default: process.execPath },
    'node-license': { type: 'string' },
    /** Removes the symbols of Node: a fifth smaller, but without names in a crash of Node. */
    strip: { type: 'boolean', default: false },
    /** An existing npm package. */
    tarball: { type: 'string' },
    output: { type: 'string', default: root },
  },
});

/** Follows symbolic links, so that it may be linked into a folder of the PATH. */
const LAUNCHER = `#!/bin/sh
program=$0
while [ -L "$program" ]; do
  link=$(readlink "$program")
  case $link in
    /*) program=$link ;;
    *) program=$(dirname "$program")/$link ;;
  esac
done
lib=$(CDPATH= cd -- "$(dirname -- "$program")/../lib" && pwd) || exit 70
exec "$lib/node" "$lib/devsh/dist/cli.js" "$@"
`;

const scratch = mkdtempSync(join(tmpdir(), 'devsh-package-'));
try {
  const about = JSON.parse(
    execFileSync(values.node, [
      '-p',
      'JSON.stringify({platform: process.platform, arch: process.arch, versions: process.versions})',
    ]).toString(),
  );
  if (about.platform === 'win32') throw new Error('there is no launcher for Windows yet');
  const tarball = values.tarball ?? pack(scratch);
  const version = /^devsh-(.*)\.tgz$/.exec(basename(tarball))[1];
  const name = `devsh-${version}-${about.platform}-${about.arch}`;
  const folder = join(scratch, name);
  const lib = join(folder, 'lib');

  mkdirSync(join(lib, 'devsh'), { recursive: true });
  mkdirSync(join(folder, 'bin'));
  execFileSync('tar', ['-xzf', tarball, '-C', join(lib, 'devsh'), '--strip-components=1']);
  const sbom = join(lib, 'devsh', 'dist', 'sbom.cdx.json');
  writeFileSync(sbom, withNode(readFileSync(sbom, 'utf8'), about.versions));
  copyKeychain(join(lib, 'devsh', 'node_modules'), about);
  cpSync(values.node, join(lib, 'node'), { dereference: true });
  if (values.strip) execFileSync('strip', [join(lib, 'node')]);
  chmodSync(join(lib, 'node'), 0o755);
  cpSync(nodeLicense(), join(lib, 'LICENSE.node'));
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  writeFileSync(join(folder, 'bin', 'devsh'), LAUNCHER, { mode: 0o755 });

  mkdirSync(values.output, { recursive: true });
  const target = join(resolve(values.output), `${name}.tar.gz`);
  // If root unpacks the files, they must not belong to the user with the builder's number.
  const isGnu = execFileSync('tar', ['--version']).includes('GNU');
  const owner = isGnu
    ? ['--owner=0', '--group=0', '--numeric-owner']
    : ['--uid', '0', '--gid', '0'];
  execFileSync('tar', [...owner, '-czf', target, '-C', scratch, name]);
  console.log(target);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

/** The keychain is the only native part; devsh works without it. */
function copyKeychain(target, { platform, arch }) {
  const own = join(root, 'node_modules/@napi-rs');
  const binaries = ['', '-gnu', '-musl'].map((libc) => `keyring-${platform}-${arch}${libc}`);
  const found = binaries.filter((binary) => existsSync(join(own, binary)));
  if (found.length === 0) {
    console.error(`no keychain for ${platform} ${arch} is installed here: it is left out`);
    return;
  }
  for (const part of ['keyring', ...found]) {
    cpSync(join(own, part), join(target, '@napi-rs', part), { recursive: true });
  }
}

/** Its place in the distributions of Node. */
function nodeLicense() {
  const bin = dirname(values.node);
  const places = [
    values['node-license'],
    join(bin, '../LICENSE'),
    join(bin, '../share/doc/node/LICENSE'),
    join(bin, '../share/doc/nodejs/LICENSE'),
    join(bin, '../share/doc/nodejs/copyright'),
  ];
  const place = places.find((path) => path !== undefined && existsSync(path));
  if (place !== undefined) return place;
  throw new Error(`the licence of ${values.node} is not beside it: name it with --node-license`);
}
