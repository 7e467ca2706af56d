import { expect, test } from 'vitest';
import { TransportFault, type FaultKind } from '../../src/device/fault.ts';
import { firstRead, nextRead, type Outcome } from '../../src/device/retry-policy.ts';

const PATH = '/api/user/';
const rules = { origin: 'https://fw1', path: PATH, isClosed: false };

function response(status: number, headers: Record<string, string> = {}): Outcome {
  return { response: { status, headers, body: '', elapsedMs: 1, latencyMs: 1 } };
}

function fault(kind: FaultKind): Outcome {
  return { fault: new TransportFault(kind, kind, { sent: true }) };
}

const moved = (location: string): Outcome => response(302, { location });
const busy = (seconds: number, status = 429): Outcome =>
  response(status, { 'retry-after': String(seconds) });

/** What is done after each outcome: where it goes on, after how long. */
function steps(outcomes: readonly Outcome[], more: Partial<typeof rules> = {}): string[] {
  let state = firstRead(PATH);
  return outcomes.map((outcome) => {
    const next = nextRead(state, outcome, { ...rules, ...more });
    if (next === undefined) return 'take';
    state = next.state;
    const { waitMs, isRequested } = next;
    if (waitMs === undefined) return state.path;
    return `${state.path} after ${waitMs} ms${isRequested === true ? ', asked for' : ''}`;
  });
}

const AGAIN = [`${PATH} after 100 ms`, `${PATH} after 300 ms`];

test.each<[title: string, outcomes: Outcome[], done: string[]]>([
  ['a good answer', [response(200)], ['take']],
  ['a refusal', [response(404)], ['take']],
  ['a busy device that says no time', [response(429)], ['take']],
  ['a broken connection', [fault('reset'), fault('refused'), fault('reset')], [...AGAIN, 'take']],
  ['an answer that was cut off', [fault('cut off'), response(200)], [`${AGAIN[0]}`, 'take']],
  ['a device that does not respond in time', [fault('timeout')], ['take']],
  ['no TLS', [fault('tls')], ['take']],
  ['an error of our own', [{ fault: new Error('bug') }], ['take']],
  ['a gateway', [response(502), response(504), response(503)], [...AGAIN, 'take']],
  ['a server error', [response(500)], ['take']],
  ['a move', [moved('/v2/user/?a=1'), response(200)], ['/v2/user/?a=1', 'take']],
  ['a relative move', [moved('../users/')], ['/api/users/']],
  ['a move to the same origin', [moved('https://fw1:443/x')], ['/x']],
  ['a move elsewhere', [moved('https://fw2/x')], ['take']],
  ['a move to plain HTTP', [moved('http://fw1/x')], ['take']],
  ['a move with a login', [moved('https://a:b@fw1/x')], ['take']],
  ['a move to nowhere', [response(302), moved('https://[')], ['take', 'take']],
  [
    'the fourth move',
    [moved('/a'), moved('/b'), moved('/c'), moved('/d')],
    ['/a', '/b', '/c', 'take'],
  ],
  [
    'a path that is tried anew after a move',
    [fault('reset'), fault('reset'), moved('/a'), fault('reset')],
    [...AGAIN, '/a', '/a after 100 ms'],
  ],
  [
    'a wait after a move',
    [moved('/a'), busy(2), response(200)],
    ['/a', `${PATH} after 2000 ms, asked for`, 'take'],
  ],
  [
    'a wait after each of three',
    [busy(0), busy(0), busy(1, 503), busy(0)],
    [
      ...Array.from({ length: 2 }, () => `${PATH} after 0 ms, asked for`),
      `${PATH} after 1000 ms, asked for`,
      'take',
    ],
  ],
  ['a long wait', [busy(100)], [`${PATH} after 100000 ms, asked for`]],
])('%s', (_title, outcomes, done) => {
  expect(steps(outcomes)).toEqual(done);
});

test('a redirect that is not followed is the response', () => {
  expect(nextRead(firstRead(PATH), moved('/a'), { ...rules, redirect: 'stay' })).toBeUndefined();
});

test('a closed client retries nothing', () => {
  expect(steps([fault('reset')], { isClosed: true })).toEqual(['take']);
});
