import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { DeviceRecord } from '../../src/device/record.ts';
import { textOf } from '../../src/output/sentences.ts';
import { driftOf, driftSummary, devicesWith, devicesWithout } from '../../src/fleet/drift.ts';
import { foldRecords } from '../../src/fleet/fold.ts';
import { differenceTexts, driftCells, driftWord } from '../../src/output/drift-text.ts';

const readsOf = (devices: readonly (readonly DeviceRecord[])[]) =>
  devices.map((records, index) => ({
    device: { name: `fw${index + 1}`, address: `fw${index + 1}:443` },
    records,
  }));

function drift(devices: readonly (readonly DeviceRecord[])[], fields?: readonly string[]) {
  return driftOf(readsOf(devices), { keyField: 'username', perDevice: ['uuid'], fields });
}

const bob = (lang: string, uuid = '1'): DeviceRecord => ({ uuid, username: 'bob', lang });

/** `key: word word word: texts` of each row. */
function lines(...args: Parameters<typeof drift>): string[] {
  const found = drift(...args);
  return found.rows.map((row) => {
    const words = row.cells.map(driftWord).join(' | ');
    return [`${row.key}: ${words}`, ...differenceTexts(found, row)].join('; ');
  });
}

describe('the most common content is the reference', () => {
  test('one device that differs is named with its field', () => {
    expect(lines([[bob('de')], [bob('fr')], [bob('de')], []])).toEqual([
      'bob: same | differs: lang | same | missing; missing on fw4; lang differs: de on fw1, fw3, fr on fw2',
    ]);
  });

  test('if two devices differ, both are reported', () => {
    expect(lines([[bob('de')], [bob('fr')]])).toEqual([
      'bob: differs: lang | differs: lang; lang differs: de on fw1, fr on fw2',
    ]);
  });

  test('a record on few devices is only there', () => {
    expect(lines([[bob('de')], [], []])).toEqual(['bob: only | missing | missing; only on fw1']);
  });

  test('many devices are counted, not named', () => {
    const devices = Array.from({ length: 50 }, (_, index) => [bob(index === 7 ? 'fr' : 'de')]);
    const found = drift(devices);
    expect(driftCells({ kind: 'drift', resource: 'user', drift: found, perDevice: [] }, true).rows)
      .toMatchInlineSnapshot(`
        [
          [
            "bob",
            "50 of 50",
            "lang differs: de on 49 devices, fr on fw8",
          ],
        ]
      `);
    expect(textOf(driftSummary(found, 'user'))).toBe(
      '1 user on 50 devices: 0 the same on all, 1 differs',
    );
  });
});

describe('never counted', () => {
  test('ids and timestamps', () => {
    expect(
      lines([
        [{ ...bob('de', '1'), seen: '2026-01-01T10:00:00Z' }],
        [{ ...bob('de', '2'), seen: '2026-02-02T11:00:00Z' }],
      ]),
    ).toEqual(['bob: same | same']);
  });

  test('but null, empty and absent are three things', () => {
    expect(
      lines([[{ ...bob('de'), note: null }], [{ ...bob('de'), note: '' }], [bob('de')]]),
    ).toEqual([
      'bob: differs: note | differs: note | differs: note; note differs: null on fw1, "" on fw2, absent on fw3',
    ]);
  });

  test('fields that were not asked for', () => {
    expect(lines([[bob('de')], [bob('fr')]], ['first_name'])).toEqual(['bob: same | same']);
  });
});

test('a key that one device has twice is reported as a difference', () => {
  expect(lines([[bob('de'), bob('de', '2')], [bob('de')], [bob('de')]])).toEqual([
    'bob: differs | same | same; 2 times on fw1',
  ]);
});

test('a key that every device has equally often, with the same content, is no difference', () => {
  const both = [bob('de'), bob('fr', '2')];
  expect(lines([both, [...both].reverse()])).toEqual(['bob: same | same']);
});

test('a key that every device has twice is reported with its differing fields', () => {
  const [de, fr] = [bob('de'), bob('fr')];
  expect(
    lines([
      [de, de, fr],
      [de, fr, fr],
      [de, de, fr],
    ]),
  ).toEqual(['bob: same | differs: lang | same; lang differs: de on fw1, fw3, de on fw2']);
  const crossed = (a: string, b: string) => ({ ...bob(a), first_name: b });
  expect(
    lines([
      [crossed('de', 'x'), crossed('fr', 'y')],
      [crossed('de', 'y'), crossed('fr', 'x')],
    ]),
  ).toEqual(['bob: differs | differs; 2 times on fw1, fw2']);
});

test('records without a key are matched by their content', () => {
  const found = drift([[{ lang: 'de' }, { lang: 'fr' }], [{ lang: 'fr' }]]);
  expect(found.rows.map(({ cells }) => cells.map(driftWord).join(' '))).toEqual([
    'only missing',
    'same same',
  ]);
});

test('a single object is one row, whatever its fields', () => {
  const found = driftOf(readsOf([[{ host: 'a' }], [{ host: 'b' }]]), {
    keyField: '',
    perDevice: [],
  });
  expect(found.rows).toHaveLength(1);
  expect(found.rows[0]?.fields.map(({ field }) => field)).toEqual(['host']);
});

describe('any records', () => {
  const record = fc.record({
    uuid: fc.string({ maxLength: 2 }),
    username: fc.constantFrom('a', 'b', 'c', ''),
    lang: fc.constantFrom('de', 'fr', '', null, 1, true),
    __proto__x: fc.constantFrom('x', 'y'),
  });
  const devices = fc.array(fc.array(record, { maxLength: 5 }), { minLength: 2, maxLength: 6 });

  test('every record is in exactly one row, and every cell says what the device holds', () => {
    fc.assert(
      fc.property(devices, (held) => {
        const found = drift(held);
        expect(found.rows.flatMap((row) => row.held.flat())).toHaveLength(held.flat().length);
        for (const row of found.rows) {
          expect(row.cells).toHaveLength(held.length);
          expect(devicesWith(found, row).length + devicesWithout(found, row).length).toBe(
            held.length,
          );
          row.cells.forEach((cell, index) => {
            expect(cell.kind === 'missing').toBe(row.held[index]?.length === 0);
          });
          expect(row.isSame).toBe(row.cells.every(({ kind }) => kind === 'same'));
          expect(differenceTexts(found, row).length > 0).toBe(!row.isSame);
        }
      }),
    );
  });

  test('the same devices in another order have the same differences', () => {
    fc.assert(
      fc.property(devices, (held) => {
        const count = (found: ReturnType<typeof drift>): number[] =>
          ['same', 'differs', 'missing'].map(
            (kind) =>
              found.rows.flatMap(({ cells }) => cells).filter((cell) => cell.kind === kind).length,
          );
        expect(count(drift([...held].reverse()))).toEqual(count(drift(held)));
      }),
    );
  });

  test('nothing differs between copies of one device, and folding agrees', () => {
    fc.assert(
      fc.property(fc.array(record, { maxLength: 5 }), (records) => {
        const held = [records, records.map((one) => ({ ...one, uuid: 'other' }))];
        expect(drift(held).rows.every(({ isSame }) => isSame)).toBe(true);
      }),
    );
    fc.assert(
      fc.property(
        fc.uniqueArray(record, { selector: ({ username }) => username, maxLength: 4 }),
        fc.uniqueArray(record, { selector: ({ username }) => username, maxLength: 4 }),
        (a, b) => {
          const isFolded = foldRecords(readsOf([a, b]), 'username', ['uuid']).every(
            (row) => row.devices.length === row.of,
          );
          expect(drift([a, b]).rows.every(({ isSame }) => isSame)).toBe(isFolded);
        },
      ),
    );
  });
});
