import { parse as parseYaml } from 'yaml';
import { expect, test } from 'vitest';
import { RefusedError, UsageError } from '../../src/errors.ts';
import { documentOf, toJson } from '../../src/output/document.ts';
import type { Output } from '../../src/shell/output.ts';
import { fw1, fw2, fw3, read, unreachable, write } from './collect.ts';

const big = {
  uuid: 1n + BigInt(Number.MAX_SAFE_INTEGER) * 2n,
  username: '=cmd()',
  tags: ['a', 'b'],
};
const reads = [read(fw1, [big]), read(fw3, unreachable), read(fw2, [{ username: 'bob\u202E' }])];

test('json is one versioned document with every device', () => {
  expect('\n' + write('json', reads, { isTty: true }).out).toMatchInlineSnapshot(`
    "
    {
      "schema": "devsh/1",
      "devices": [
        {
          "device": "fw1",
          "address": "10.0.0.5:443",
          "ok": true,
          "records": [
            {
              "uuid": 18014398509481983,
              "username": "=cmd()",
              "tags": [
                "a",
                "b"
              ]
            }
          ]
        },
        {
          "device": "fw3",
          "address": "10.0.0.7:443",
          "ok": false,
          "error": {
            "code": "unreachable",
            "message": "fw3: no answer within 5 s"
          }
        },
        {
          "device": "fw2",
          "address": "10.0.0.6:443",
          "ok": true,
          "records": [
            {
              "username": "bob\\u202e"
            }
          ]
        }
      ],
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

test.each(['json', 'jsonl', 'table'] as const)(
  'what a fleet has is written as %s in a few large pieces',
  (format) => {
    const users = Array.from({ length: 50 }, (_, index) => ({
      username: `bob${index}`,
      lang: 'é',
    }));
    const fleet = Array.from({ length: 100 }, (_, position) => ({
      ...read({ name: `d${position}`, address: `10.0.1.${position}:443` }, users, { fold: false }),
      position,
    }));
    const many = Array.from({ length: 1200 }, (_, id) => ({
      username: `u${id}\u202e`,
      id: BigInt(id),
    }));
    fleet.push({
      ...read({ name: 'd100', address: '10.0.2.0:443' }, many, { fold: false }),
      position: 100,
    });
    const pieces: string[] = [];
    const { out } = write(format, fleet);
    write(format, fleet, { out: (piece) => void pieces.push(piece) });
    expect(pieces.join('')).toBe(out);
    expect(pieces.length).toBeLessThanOrEqual(format === 'jsonl' ? 102 : 1 + out.length / 65_536);
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(75_000);
    if (format === 'json') expect(out).toBe(`${toJson(documentOf(fleet))}\n`);
    if (format === 'table') expect(out.split('\n')).toHaveLength(2 + 100 * 50 + 1200);
  },
);

test('jsonl is one line a record or failed device', () => {
  expect('\n' + write('jsonl', reads).out).toMatchInlineSnapshot(`
    "
    {"device":"fw1","record":{"uuid":18014398509481983,"username":"=cmd()","tags":["a","b"]}}
    {"device":"fw3","address":"10.0.0.7:443","error":{"code":"unreachable","message":"fw3: no answer within 5 s"}}
    {"device":"fw2","record":{"username":"bob\\u202e"}}
    "
  `);
});

test('csv has the union of all columns, harmless formulas, and failures on stderr', () => {
  const { out, err } = write('csv', reads);
  expect('\n' + out.replace('\u202E', '<bidi>')).toMatchInlineSnapshot(`
    "
    device,username,tags,uuid
    fw1,'=cmd(),"a, b",18014398509481983
    fw2,bob<U+202E>,,
    "
  `);
  expect(err).toBe('✗ fw3: no answer within 5 s\n');
});

test('yaml says the same as json, with exact integers and nothing invisible', () => {
  const { out } = write('yaml', reads);
  expect(out).not.toContain('\u202E');
  expect(parseYaml(out, { intAsBigInt: true })).toMatchObject({
    schema: 'devsh/1',
    devices: [
      { device: 'fw1', ok: true, records: [big] },
      { device: 'fw3', ok: false, error: { code: 'unreachable' } },
      { device: 'fw2', ok: true, records: [{ username: 'bob\u202E' }] },
    ],
  });
});

test('an error that ends a command is in the document, beside what was gathered', () => {
  const error = new UsageError("unknown command 'usr'", { column: 0, suggestions: ['user'] });
  expect(JSON.parse(write('json', [], { error }).out)).toEqual({
    schema: 'devsh/1',
    error: {
      code: 'usage',
      message: "unknown command 'usr'",
      column: 0,
      suggestions: ['user'],
    },
  });
  const gathered: unknown = JSON.parse(write('json', reads.slice(0, 1), { error }).out);
  expect(gathered).toMatchObject({ devices: [{ device: 'fw1' }], error: { code: 'usage' } });
  expect(write('table', [], { error }).err).toBe(
    "error: unknown command 'usr'\n  did you mean 'user'?\n",
  );
  expect(write('csv', [], { error }).err).toContain("unknown command 'usr'");
  expect(write('jsonl', [], { error }).out).toContain('"code":"usage"');
});

test('errors beside the data are listed once', () => {
  const outputs: Output[] = [
    ...reads,
    { kind: 'error', device: fw3, error: unreachable },
    { kind: 'error', error: new RefusedError('read-only') },
  ];
  expect(JSON.parse(write('json', outputs).out)).toMatchObject({
    errors: [{ error: { code: 'refused', message: 'read-only' } }],
  });
  expect(write('table', outputs.slice(-2)).err).toBe(
    '✗ fw3: no answer within 5 s\nerror: read-only\n',
  );
});

const pins: Output = {
  kind: 'table',
  name: 'pins',
  columns: [
    { key: 'host', title: 'HOST' },
    { key: 'count', title: 'COUNT' },
  ],
  rows: [
    { host: 'fw1', count: 5 },
    { host: 'fw2', count: 10 },
  ],
};

test('a table of our own is drawn with numbers to the right, and is its rows for programs', () => {
  expect(write('table', [pins], { isTty: true }).out).toBe(
    'HOST  COUNT\nfw1       5\nfw2      10\n',
  );
  expect(JSON.parse(write('json', [pins]).out)).toEqual({ schema: 'devsh/1', pins: pins.rows });
  expect(write('csv', [pins]).out).toBe('host,count\nfw1,5\nfw2,10\n');
});

test('a raw answer goes to a file as it came, and to a terminal in visible form', () => {
  const answer: Output = { kind: 'answer', device: fw1, status: 404, body: '\u001B[2J\n' };
  expect(write('table', [answer])).toEqual({ out: '\u001B[2J\n', err: 'fw1: HTTP 404\n' });
  expect(write('table', [answer], { isTty: true }).out).toBe('^[[2J\n');
  expect(write('json', [{ ...answer, value: { a: 1n } }]).out).toContain('"value":{"a":1}');
});

test('remarks go to stderr; quiet keeps only warnings', () => {
  const messages: Output[] = [
    { kind: 'message', level: 'info', text: 'reading' },
    { kind: 'message', level: 'done', text: 'stored' },
    { kind: 'message', level: 'warning', text: 'not verified: \u009B' },
  ];
  expect(write('json', messages).err).toBe('reading\n✓ stored\nwarning: not verified: <U+009B>\n');
  expect(write('table', messages, { quiet: true }).err).toBe('warning: not verified: <U+009B>\n');
});

test('progress is one line of a terminal, taken away before anything else', () => {
  const outputs: Output[] = [
    { kind: 'progress', done: 1, total: 3, text: 'reading: waiting for fw2, fw3' },
    { kind: 'progress', done: 2, total: 3, text: 'reading: waiting for fw3' },
    { kind: 'progress', done: 3, total: 3, text: 'reading' },
    { kind: 'text', name: 'help', text: 'Usage\n' },
  ];
  expect(write('table', outputs, { isErrTty: true })).toEqual({
    out: 'Usage\n',
    err: '\r\u001B[K1/3 reading: waiting for fw2, fw3\r\u001B[K2/3 reading: waiting for fw3\r\u001B[K3/3 reading\r\u001B[K',
  });
  expect(write('table', outputs).err).toBe('');
});

test('what comes of a long answer is told on a terminal beside the data, whatever their format', () => {
  const outputs: Output[] = [
    { kind: 'progress', done: 0, total: 0, text: 'fw1: 12.4 MB, 41,000 users\u009B' },
    ...reads,
  ];
  for (const format of ['table', 'json', 'csv'] as const) {
    const { out, err } = write(format, outputs, { isErrTty: true });
    expect(err).toMatch(/^\r\u001B\[Kfw1: 12\.4 MB, 41,000 users<U\+009B>\r\u001B\[K/);
    expect(out).toBe(write(format, reads).out);
    expect(write(format, outputs).err).not.toContain('12.4');
    expect(write(format, outputs, { isErrTty: true, quiet: true }).err).not.toContain('12.4');
  }
});

test.each(['table', 'json', 'yaml', 'csv'] as const)(
  'a checkpoint prints what belongs together in %s, and the end does not repeat it',
  (format) => {
    expect(write(format, [pins, { kind: 'checkpoint' }])).toEqual(write(format, [pins]));
    const { out } = write(format, [pins, { kind: 'checkpoint' }, pins]);
    expect(out).toBe(write(format, [pins]).out.repeat(2));
  },
);
