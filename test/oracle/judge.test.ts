import { expect, test } from 'vitest';
import type { Run } from '../main/devsh.ts';
import type { Line } from './cases.ts';
import { Judge, type Execution } from './judge.ts';
import { ModelDevice, type JsonObject, type Model, type Recorded } from './model-device.ts';

const MODEL: Model = {
  way: 'JSON PUT',
  leftOut: 'erased',
  tells: 'fields',
  idField: 'id',
  fields: [
    { name: 'lang', kind: 'text', access: 'open' },
    { name: 'is_admin', kind: 'flag', access: 'open' },
    { name: 'made_by', kind: 'text', access: 'read-only' },
    { name: 'login_shell', kind: 'text', access: 'hidden' },
  ],
};
const ANN: JsonObject = { username: 'ann', lang: 'de', made_by: 'root', login_shell: 'sh' };
const BEFORE = new Map([['1', ANN]]);

const run = (stdout: string, exitCode = 0): Run => ({ stdout, stderr: '', exitCode });

/** One device and one line: the output, the requests, and the records. */
function execution(
  line: Line,
  plan: string,
  result: string,
  sent?: { readonly method?: string; readonly path: string; readonly body: JsonObject | '' },
  after: ReadonlyMap<string, JsonObject> = BEFORE,
): Execution {
  const writes: Recorded[] =
    sent === undefined
      ? []
      : [
          {
            method: sent.method ?? 'PUT',
            path: sent.path,
            contentType: 'application/json',
            body: sent.body === '' ? '' : JSON.stringify(sent.body),
            before: BEFORE,
            after,
          },
        ];
  const device = new ModelDevice(MODEL, []);
  const shown = (id: string, record: JsonObject): JsonObject => device.shown(id, record);
  return {
    line,
    plan: run(plan),
    real: run(result),
    isJson: result.startsWith('{'),
    devices: [
      {
        name: 'oslo',
        isAbsent: false,
        hasTold: true,
        isLost: false,
        before: BEFORE,
        after,
        writes,
        shown,
      },
    ],
  };
}

const SET: Line = { kind: 'set', key: 'ann', typed: { lang: 'en' } };
const PATH = '/api/user/1/';
const WHOLE = { username: 'ann', lang: 'en', made_by: 'root' };
const KEPT = new Map([['1', { ...ANN, lang: 'en' }]]);
const ERASED = new Map([['1', { ...ANN, lang: 'en', login_shell: '' }]]);
const results = (verdict: string, differences: readonly JsonObject[] = []): string =>
  JSON.stringify({ results: [{ device: 'oslo', key: 'ann', verdict, differences }] });

test('a write that matches its plan is right', () => {
  const right = execution(
    SET,
    'set user ann on oslo',
    results('done'),
    { path: PATH, body: WHOLE },
    KEPT,
  );
  expect(new Judge(MODEL).judge(right)).toEqual([]);
});

test.each([
  [
    'a field that nobody named',
    execution(
      SET,
      'on oslo',
      results('done'),
      { path: PATH, body: { ...WHOLE, is_admin: true } },
      KEPT,
    ),
    'oslo: PUT /api/user/1/: sends is_admin=true: not typed, not held, not named as filled in',
  ],
  [
    'a value that is not the one that was typed',
    execution(
      SET,
      'on oslo',
      results('differs'),
      { path: PATH, body: { ...WHOLE, lang: 'fr' } },
      KEPT,
    ),
    'oslo: PUT /api/user/1/: lang=fr, typed en',
  ],
  [
    'a hidden field that is erased in silence',
    execution(SET, 'on oslo', results('done'), { path: PATH, body: WHOLE }, ERASED),
    'oslo: ann login_shell: sh -> , and the plan says nothing of it',
  ],
  [
    'a record that nobody named',
    execution({ ...SET, key: 'bob' }, 'on oslo', results('done'), { path: PATH, body: WHOLE }),
    'oslo: PUT /api/user/1/: is about ann, whom nobody named',
  ],
  [
    'a delete that does not say what is lost',
    execution(
      { kind: 'delete', key: 'ann' },
      'delete ann on oslo: id and login_shell do not come back',
      results('done'),
      { method: 'DELETE', path: PATH, body: '' },
      new Map(),
    ),
    'oslo: no word that made_by=root of ann is lost',
  ],
  [
    'a device that is not named',
    execution(SET, 'nothing to do', results('unchanged')),
    'oslo does not stand in the plan',
  ],
  [
    'a verdict that tells of sending what was not sent',
    execution(SET, 'on oslo', results('differs', [{ field: 'lang', sent: 'en', held: 'de' }])),
    'oslo: says that lang was sent, and it was not',
  ],
  [
    'no effect, and there was one',
    execution(SET, 'on oslo', results('no effect'), { path: PATH, body: WHOLE }, KEPT),
    'oslo: ann is "no effect", and it has changed',
  ],
  [
    'done, and it is not',
    execution(SET, 'on oslo', results('done'), { path: PATH, body: WHOLE }, BEFORE),
    'oslo: ann done, and holds lang=de',
  ],
])('the oracle sees %s', (_, wrong, fault) => {
  expect(new Judge(MODEL).judge(wrong)).toContain(fault);
});

test('the oracle detects an incomplete undo that is called done', () => {
  const judge = new Judge(MODEL);
  const set = execution(SET, 'oslo', results('done'), { path: PATH, body: WHOLE }, KEPT);
  expect(judge.judge(set)).toEqual([]);
  const undo = execution({ kind: 'undo' }, 'oslo', results('done'), undefined, ERASED);
  expect(judge.judge(undo)).toEqual([
    'oslo: undo: ann lang: de -> en, and the plan says nothing of it',
    'oslo: undo: ann lang: de -> en, and it is called done',
    'oslo: undo: ann login_shell: sh -> , and the plan says nothing of it',
  ]);
});
