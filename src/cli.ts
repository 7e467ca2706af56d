#!/usr/bin/env node
// Node 14 must be able to parse this file: a Node that is too old gets one line, not a SyntaxError of the program.

/** From package.json, like DEVSH_NODE of its `engines`. */
declare const DEVSH_VERSION: string;
declare const DEVSH_NODE: string;

const argv = process.argv.slice(2);
const found = process.versions.node;
const [major = 0, minor = 0] = found.split('.').map(Number);
const [oldestMajor = 0, oldestMinor = 0] = DEVSH_NODE.split('.').map(Number);

if (major < oldestMajor || (major === oldestMajor && minor < oldestMinor)) {
  process.stderr.write(
    `devsh needs Node.js ${DEVSH_NODE} or newer; this is ${found} (${process.execPath}). ` +
      'The package of devsh that includes Node needs none.\n',
  );
  process.exitCode = 69;
} else if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
  // Scripts and prompts ask for it often: nothing else is loaded.
  process.stdout.write(`${DEVSH_VERSION}\n`);
} else {
  void import('./start.ts').then(({ start }) => start(argv));
}
