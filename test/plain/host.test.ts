import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { wantsColor } from '../../src/plain/host.ts';

function host(env: NodeJS.ProcessEnv, isTTY: boolean) {
  const stream = Object.assign(new PassThrough(), { isTTY });
  const streams = { stdin: stream, stdout: stream, stderr: stream };
  return { argv: [], env, ...streams, onStop: () => () => undefined };
}

const cases: readonly (readonly [string, NodeJS.ProcessEnv, onTty: boolean, piped: boolean])[] = [
  ['nothing', {}, true, false],
  ['NO_COLOR', { NO_COLOR: '1' }, false, false],
  ['an empty NO_COLOR', { NO_COLOR: '' }, true, false],
  ['NO_COLOR before FORCE_COLOR', { NO_COLOR: '1', FORCE_COLOR: '3' }, false, false],
  ['NO_COLOR before CLICOLOR_FORCE', { NO_COLOR: '1', CLICOLOR_FORCE: '1' }, false, false],
  ['FORCE_COLOR', { FORCE_COLOR: '1' }, true, true],
  ['FORCE_COLOR=0', { FORCE_COLOR: '0' }, false, false],
  ['an empty FORCE_COLOR', { FORCE_COLOR: '' }, true, false],
  ['FORCE_COLOR before CLICOLOR', { FORCE_COLOR: '1', CLICOLOR: '0' }, true, true],
  ['FORCE_COLOR=0 before CLICOLOR_FORCE', { FORCE_COLOR: '0', CLICOLOR_FORCE: '1' }, false, false],
  ['FORCE_COLOR before TERM=dumb', { FORCE_COLOR: '1', TERM: 'dumb' }, true, true],
  ['CLICOLOR_FORCE', { CLICOLOR_FORCE: '1' }, true, true],
  ['CLICOLOR_FORCE=0', { CLICOLOR_FORCE: '0' }, true, false],
  ['CLICOLOR_FORCE before CLICOLOR', { CLICOLOR_FORCE: '1', CLICOLOR: '0' }, true, true],
  ['CLICOLOR=0', { CLICOLOR: '0' }, false, false],
  ['CLICOLOR=1', { CLICOLOR: '1' }, true, false],
  ['TERM=dumb', { TERM: 'dumb' }, false, false],
];

test.each(cases)('%s decides on colours as documented', (_name, env, onTty, piped) => {
  expect(wantsColor(host(env, true), 'auto')).toBe(onTty);
  expect(wantsColor(host(env, false), 'auto')).toBe(piped);
  expect(wantsColor(host(env, true), 'never')).toBe(false);
  expect(wantsColor(host(env, false), 'always')).toBe(true);
});
