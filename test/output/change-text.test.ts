import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import type { Plan } from '../../src/change/plan.ts';
import { type StepResult, type Verdict, VERDICTS } from '../../src/change/verdict.ts';
import { info, type PlanOutput, type ResultOutput } from '../../src/shell/output.ts';
import { fw1, fw2, fw3, unreachable, write } from './collect.ts';
import type { Step } from '../../src/change/step.ts';

const addCarol: Step = {
  action: 'add',
  resource: 'user',
  key: 'carol',
  keyField: 'username',
  request: {
    method: 'POST',
    path: '/api/user/',
    form: [
      ['uuid', 'null'],
      ['username', 'carol'],
      ['password', 'hush'],
    ],
  },
  after: { username: 'carol', first_name: 'Carol Ann', password: 'hush', lang: 'de' },
  asked: { username: 'carol', first_name: 'Carol Ann', password: 'hush' },
  effects: { filled: { lang: 'most common here' } },
};
const setBob: Step = {
  action: 'set',
  resource: 'user',
  key: 'bob',
  keyField: 'username',
  request: { method: 'POST', path: '/api/user/', form: [['lang', 'en']] },
  before: { username: 'bob', lang: 'de', lastname: '' },
  after: { username: 'bob', lang: 'en', lastname: 'Builder' },
  asked: { lang: 'en', lastname: 'Builder' },
  effects: {},
};
const deleteBob: Step = {
  action: 'delete',
  resource: 'user',
  key: 'bob',
  keyField: 'username',
  request: { method: 'DELETE', path: '/api/user/1/' },
  before: { username: 'bob' },
  asked: {},
  effects: {},
};
const base = { resource: 'user', key: 'carol', action: 'add' } as const;
const unchanged: StepResult = { ...base, device: fw2, verdict: 'unchanged' };
const plan: Plan = {
  run: 'r1',
  devices: [
    { device: fw1, steps: [addCarol, setBob], settled: [] },
    { device: fw2, steps: [addCarol, deleteBob], settled: [{ ...unchanged, key: 'dave' }] },
    { device: fw3, steps: [], settled: [], error: unreachable },
  ],
};
const planned: PlanOutput = { kind: 'plan', plan };

function ended(result: Partial<StepResult>): ResultOutput {
  return {
    kind: 'result',
    run: 'r1',
    result: { ...base, device: fw1, verdict: 'done', ...result },
  };
}

const run = [
  planned,
  ended({ record: { username: 'carol' } }),
  ended({
    device: fw2,
    verdict: 'differs',
    differences: [
      { field: 'lang', sent: 'de', held: 'en' },
      { field: 'password', sent: 'hush', held: 'hash' },
    ],
  }),
  ended({ device: fw3, verdict: 'failed', error: unreachable }),
  ended({ key: 'x\u001B[2J', verdict: 'unknown', notes: [{ code: 'seen', is: 'lost' }] }),
  {
    kind: 'summary',
    run: 'r1',
    counts: { unknown: 1, done: 1, differs: 1, failed: 1 },
    notCovered: [],
  },
] as const;

test('a plan is folded and counted, on stderr, with secrets masked', () => {
  const { out, err } = write('table', [planned]);
  expect(out).toBe('');
  expect('\n' + err).toMatchInlineSnapshot(`
    "
    add user carol on fw1, fw2 (first_name="Carol Ann" password=•••) (filled in: lang=de, most common here)
    set user bob on fw1: lang: de -> en, lastname: "" -> Builder
    delete user bob on fw2
    unchanged on fw2: user dave
    not reached: fw3 - no answer within 5 s
    2 to add · 1 to change · 1 to delete · 1 unchanged · 1 not reached
    "
  `);
});

test('the plan of a dry run is the data', () => {
  const { out, err } = write('table', [{ ...planned, dryRun: true }]);
  expect(out).toContain('add user carol on fw1, fw2');
  expect(err).toBe('');
});

test('each result has a sign, a word and its reason; the summary counts', () => {
  const { out } = write('table', run);
  expect('\n' + out).toMatchInlineSnapshot(`
    "
    ✓ carol  added (filled in: lang=de, most common here)  fw1
    ? x^[[2J  add unknown - the response was lost  fw1
    ≠ carol  add differs - lang: sent de, device has en; password: sent •••, device has •••  fw2
    ✗ not reached: no answer within 5 s  fw3
    1 done · 1 differs · 1 failed · 1 unknown
    "
  `);
});

test('the JSON of a run holds results, the device that had no plan, and the summary', () => {
  const { out } = write('json', run, { isTty: true });
  expect('\n' + out).toMatchInlineSnapshot(`
    "
    {
      "schema": "devsh/1",
      "run": "r1",
      "results": [
        {
          "device": "fw1",
          "address": "10.0.0.5:443",
          "resource": "user",
          "key": "carol",
          "action": "add",
          "verdict": "done",
          "record": {
            "username": "carol"
          }
        },
        {
          "device": "fw1",
          "address": "10.0.0.5:443",
          "resource": "user",
          "key": "x\\u001b[2J",
          "action": "add",
          "verdict": "unknown",
          "note": "the response was lost",
          "codes": [
            "seen.lost"
          ]
        },
        {
          "device": "fw2",
          "address": "10.0.0.6:443",
          "resource": "user",
          "key": "carol",
          "action": "add",
          "verdict": "differs",
          "differences": [
            {
              "field": "lang",
              "sent": "de",
              "held": "en"
            },
            {
              "field": "password",
              "sent": "***",
              "held": "***"
            }
          ]
        },
        {
          "device": "fw2",
          "address": "10.0.0.6:443",
          "resource": "user",
          "key": "dave",
          "action": "add",
          "verdict": "unchanged"
        },
        {
          "device": "fw3",
          "address": "10.0.0.7:443",
          "resource": "user",
          "key": "carol",
          "action": "add",
          "verdict": "failed",
          "error": {
            "code": "unreachable",
            "message": "fw3: no answer within 5 s"
          }
        }
      ],
      "summary": {
        "done": 1,
        "unchanged": 1,
        "differs": 1,
        "failed": 1,
        "unknown": 1
      },
      "notCovered": [
        {
          "device": "fw3",
          "address": "10.0.0.7:443",
          "code": "unreachable"
        }
      ]
    }
    "
  `);
});

test('the JSON of a dry run holds the plan, with secrets masked', () => {
  const { out } = write('json', [{ ...planned, dryRun: true }]);
  expect(JSON.parse(out)).toMatchObject({
    schema: 'devsh/1',
    run: 'r1',
    plan: [
      {
        device: 'fw1',
        steps: [
          {
            action: 'add',
            request: { method: 'POST', path: '/api/user/' },
            after: { password: '***' },
          },
          { action: 'set', before: { lang: 'de' }, after: { lang: 'en' } },
        ],
      },
      { device: 'fw2', settled: [{ key: 'dave', verdict: 'unchanged' }] },
      { device: 'fw3', steps: [], error: { code: 'unreachable' } },
    ],
  });
  expect(out).not.toContain('hush');
});

test('a plan in which all is so already is its results', () => {
  const settled: PlanOutput = {
    kind: 'plan',
    plan: { run: 'r1', devices: [{ device: fw2, steps: [], settled: [unchanged] }] },
  };
  expect(JSON.parse(write('json', [settled]).out)).toEqual({
    schema: 'devsh/1',
    run: 'r1',
    results: [{ device: 'fw2', address: fw2.address, ...base, verdict: 'unchanged' }],
    summary: { unchanged: 1 },
  });
});

test('jsonl says each result as it comes, and CSV has a row for each', () => {
  const lines = write('jsonl', run).out.trimEnd().split('\n');
  expect(lines.map((line) => Object.keys(JSON.parse(line) as object).join())).toEqual([
    'device,address,error',
    'device,address,resource,key,action,verdict,record',
    'device,address,resource,key,action,verdict,differences',
    'device,address,resource,key,action,verdict,error',
    'device,address,resource,key,action,verdict,note,codes',
    'run,summary',
  ]);
  expect(write('csv', run).out).toContain('fw3,user,carol,add,failed,no answer within 5 s\n');
});

afterEach(() => {
  vi.useRealTimers();
});

test('whatever order devices end in, and however long they take, what went wrong comes last', () => {
  vi.useFakeTimers();
  const ends = fc.uniqueArray(fc.constantFrom('fw1', 'fw2', 'fw3', 'fw4', 'fw5'), { minLength: 2 });
  const verdicts = fc.array(fc.constantFrom<Verdict>(...VERDICTS), { minLength: 5, maxLength: 5 });
  const property = fc.property(ends, verdicts, (names, all) => {
    const devices = names.map((name) => ({ name, address: `${name}:443` }));
    const results = devices.map((device, at) => ended({ device, verdict: all[at] ?? 'done' }));
    const steps = devices.map((device) => ({ device, steps: [addCarol], settled: [] }));
    const begin: PlanOutput = { kind: 'plan', plan: { run: 'r1', devices: steps.reverse() } };
    const outputs = [begin, ...results].flatMap((one) => [one, info('observed')]);
    const { out } = write('table', outputs, { onWritten: () => vi.advanceTimersByTime(60_000) });
    const lines = out.trim().split('\n');
    const ranks = lines.map((line) =>
      ['≠?', '✗'].findIndex((some) => some.includes(line.charAt(0))),
    );
    expect(ranks).toEqual(ranks.toSorted());
  });
  fc.assert(property);
});
