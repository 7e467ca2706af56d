import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeCell, encodeCell } from '../../../src/change/record-file/csv-cell.ts';
import { matchRows } from '../../../src/change/record-file/match-rows.ts';
import { readRecordFile } from '../../../src/change/record-file/read-record-file.ts';
import {
  Problems,
  type RecordFormat,
  withoutSecrets,
} from '../../../src/change/record-file/record-file.ts';
import { documentedProfile } from '../../../src/device/built-in-profiles.ts';
import {
  type DeviceRecord,
  isNested,
  isValueList,
  type Value,
} from '../../../src/device/record.ts';
import { renderedText } from '../../../src/output/writers.ts';
import type { ReadOutput } from '../../../src/shell/output.ts';
import { EXPORT_VIEW } from './export-view.ts';
import { rounds } from '../../rounds.ts';

const NASTY = [
  '=1+1',
  ' =1+1',
  '+49 30 123',
  '-x',
  '-5',
  '@x',
  '＝1',
  "'",
  "''",
  "'=1",
  "''@x",
  "'s-Gravenhage",
  '007',
  '5',
  '1.0',
  '1e3',
  '0x1F',
  '-0',
  'true',
  'no',
  'null',
  '~',
  '',
  ' ',
  '[1]',
  '{"a":1}',
  '"',
  '"a"',
  '"a\\u000a"',
  'a,b;c\td',
  'a\nb\r\nc\rd',
  '\u001b[31mred',
  '\u202eevil',
  '\u0000',
  '\ud800',
  '\ufeff',
  '<<',
  '#x',
  '- x',
  'a: b',
  '***',
  '👩‍👩‍👧',
];

const text = fc.oneof(
  fc.constantFrom(...NASTY),
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.string({ unit: fc.constantFrom(...Array.from(`'"=+-@,;\n\r\t[]{}\\ u0a#:`)), maxLength: 8 }),
);
const scalar: fc.Arbitrary<Value> = fc.oneof(
  { weight: 4, arbitrary: text },
  fc.integer(),
  // Integers beyond the range of `number` are `bigint`.
  fc
    .double({ noNaN: true, noDefaultInfinity: true })
    .filter((number) => !Number.isInteger(number) || Number.isSafeInteger(number)),
  fc.bigInt({ min: 2n ** 60n, max: 2n ** 70n }),
  fc.boolean(),
  fc.constant(null),
);
const fieldName = fc
  .oneof(fc.constantFrom('lang', 'mtu', 'device', 'DEVICE', '<<', '=1', 'a,b'), text)
  .filter((name) => !['username', '', 'uuid', 'id', '__proto__'].includes(name));
const { value } = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(text, tie('value'), { maxKeys: 3 }),
  ),
}));
const records: fc.Arbitrary<readonly DeviceRecord[]> = fc
  .uniqueArray(
    fc.tuple(
      text.filter((key) => key !== ''),
      fc.dictionary(fieldName, value, { maxKeys: 4 }),
    ),
    { selector: ([username]) => username, minLength: 1, maxLength: 4 },
  )
  .map((list) => list.map(([username, fields]) => withoutSecrets({ username, ...fields })));

function exported(
  format: RecordFormat,
  devices: readonly (readonly DeviceRecord[])[],
): Promise<string> {
  const reads = devices.map((held, position): ReadOutput => ({
    kind: 'read',
    view: EXPORT_VIEW,
    device: { name: `fw${position + 1}`, address: `10.0.0.${position + 1}:443` },
    position,
    outcome: { ok: true, records: held },
  }));
  return renderedText(format, reads);
}

/** The changes of an import on devices with these records. */
function changes(content: string, name: string, devices: readonly (readonly DeviceRecord[])[]) {
  const problems = new Problems();
  const file = readRecordFile(content, name, (column) => column);
  const found = devices.map((held, index) => {
    const device = `fw${index + 1}`;
    const rows = file.rows.filter((row) => row.device === device);
    const about = { name: device, profile: documentedProfile, resource: 'user', records: held };
    return matchRows(about, rows, { isCells: file.isCells, prune: true }, problems).changes;
  });
  problems.throwAny();
  return found.flat();
}

/** As LibreOffice saves a table in a European locale: quoted cells, `;`, CRLF, a byte order mark. */
function savedByLibreOffice(csv: string): string {
  const rows: string[][] = parse(csv);
  return stringify(rows, {
    bom: true,
    delimiter: ';',
    quoted: true,
    quoted_empty: true,
    record_delimiter: '\r\n',
  });
}

describe('an export that is imported again changes nothing', () => {
  test.each(['csv', 'json', 'jsonl', 'yaml'] as const)('as %s', async (format) => {
    await fc.assert(
      fc.asyncProperty(fc.array(records, { minLength: 1, maxLength: 2 }), async (devices) => {
        expect(changes(await exported(format, devices), `users.${format}`, devices)).toEqual([]);
      }),
      { numRuns: rounds(100) },
    );
  });

  test('as CSV that LibreOffice has saved again', async () => {
    await fc.assert(
      fc.asyncProperty(records, async (held) => {
        const saved = savedByLibreOffice(await exported('csv', [held]));
        expect(changes(saved, 'users.csv', [held])).toEqual([]);
      }),
      { numRuns: rounds(100) },
    );
  });

  test.each(['json', 'jsonl', 'yaml'] as const)(
    'and %s gives the very same values',
    async (format) => {
      await fc.assert(
        fc.asyncProperty(records, async (held) => {
          const file = readRecordFile(
            await exported(format, [held]),
            `users.${format}`,
            (name) => name,
          );
          expect(file.rows.map(({ fields }) => fields)).toEqual(held.map(asJson));
        }),
        { numRuns: rounds(100), examples: [[[{ username: 'bob', lang: -0 }]]] },
      );
    },
  );
});

test.each(['csv', 'json', 'jsonl', 'yaml'] as const)(
  'as %s leaves out secrets that stand in a list, which keeps them',
  async (format) => {
    const held = { username: 'bob', data: { key: ['s3cret', 'other'], size: [1] } };
    const content = await exported(format, [[withoutSecrets(held)]]);
    expect(content).not.toMatch(/s3cret|\*\*\*/);
    expect(changes(content, `users.${format}`, [[held]])).toEqual([]);
  },
);

/** JSON has no -0. */
function asJson(record: DeviceRecord): DeviceRecord {
  const plain = (value: Value): Value => {
    if (value === 0) return 0;
    if (!isNested(value)) return value;
    if (isValueList(value)) return value.map(plain);
    return Object.fromEntries(Object.entries(value).map(([field, item]) => [field, plain(item)]));
  };
  return plain(record) as DeviceRecord;
}

test('a text survives a round trip through a cell, and no spreadsheet takes it for a formula', () => {
  fc.assert(
    fc.property(text, (original) => {
      const cell = encodeCell(original);
      expect(decodeCell(cell).text).toBe(original);
      expect(cell).not.toMatch(/^\s*[=+\-@＝＋－＠]/);
      expect(cell).not.toMatch(/[\p{Cc}\p{Default_Ignorable_Code_Point}]/u);
    }),
    { numRuns: rounds(2000) },
  );
});
