import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { DeviceRecord } from '../../src/device/record.ts';
import { Fold, foldRecords, type FoldedRow } from '../../src/fleet/fold.ts';
import { foldNote } from '../../src/output/read-table.ts';

const device = (name: string) => ({ name, address: `${name}:443` });
const [fw1, fw2, fw3] = [device('fw1'), device('fw2'), device('fw3')];

function folded(...reads: (readonly DeviceRecord[])[]) {
  const devices = [fw1, fw2, fw3];
  return foldRecords(
    reads.map((records, index) => ({ device: devices[index] ?? device(String(index)), records })),
    'username',
    ['uuid'],
  ).map((row) => ({
    devices: row.devices.map(({ name }) => name).join(','),
    username: row.record.username,
    note: foldNote(row),
  }));
}

test('equal records become one row, and ids count neither way', () => {
  expect(
    folded(
      [
        { uuid: '1', username: 'alice', lang: 'de' },
        { uuid: '2', username: 'bob', lang: 'de' },
      ],
      [{ lang: 'de', username: 'alice', uuid: '9' }],
      [
        { uuid: '1', username: 'alice', lang: 'de' },
        { uuid: '3', username: 'carol', lang: 'en' },
      ],
    ),
  ).toEqual([
    { devices: 'fw1,fw2,fw3', username: 'alice', note: '' },
    { devices: 'fw1', username: 'bob', note: 'only here' },
    { devices: 'fw3', username: 'carol', note: 'only here' },
  ]);
});

test('a record that differs says in which fields, on all its rows', () => {
  expect(
    folded(
      [{ username: 'alice', lang: 'de', first_name: 'A' }],
      [{ username: 'alice', lang: 'en', first_name: 'A' }],
      [{ username: 'alice', lang: 'de', first_name: 'A' }],
    ),
  ).toEqual([
    { devices: 'fw1,fw3', username: 'alice', note: 'differs: lang' },
    { devices: 'fw2', username: 'alice', note: 'differs: lang' },
  ]);
});

test('a record on some devices says on how many; under a filter absence is not claimed', () => {
  const bob = { username: 'bob' };
  expect(folded([bob], [bob], [])).toMatchObject([{ note: 'on 2 of 3' }]);
  const [row] = foldRecords(
    [
      { device: fw1, records: [bob] },
      { device: fw2, records: [] },
    ],
    'username',
    [],
  );
  expect(row && foldNote(row, true)).toBe('matches only here');
});

test('the spelling of a value is no difference; null is one to absent', () => {
  const record = { username: 'a', active: true };
  expect(folded([record], [{ ...record, active: 'true' }])).toMatchObject([{ devices: 'fw1,fw2' }]);
  expect(folded([{ ...record, note: null }], [record])).toMatchObject([
    { devices: 'fw1', note: 'differs: note' },
    { devices: 'fw2', note: 'differs: note' },
  ]);
});

test('two equal records on one device stay two rows', () => {
  expect(folded([{ username: 'a' }, { username: 'a' }])).toHaveLength(2);
});

test('no record is lost or made up', () => {
  const record = fc.record({
    username: fc.constantFrom('a', 'b', 'c'),
    lang: fc.constantFrom('de', 'en'),
    uuid: fc.nat(),
  });
  fc.assert(
    fc.property(fc.array(fc.array(record), { maxLength: 5 }), (lists) => {
      const reads = lists.map((records, index) => ({ device: device(`fw${index}`), records }));
      const rows = foldRecords(reads, 'username', ['uuid']);
      const unfolded = (name: string) =>
        rows
          .flatMap(({ devices, records }) =>
            records.filter((_, index) => devices[index]?.name === name),
          )
          .map(({ uuid }) => uuid)
          .sort();
      for (const read of reads) {
        expect(unfolded(read.device.name)).toEqual(read.records.map(({ uuid }) => uuid).sort());
      }
    }),
  );
});

test('per-device fields neither prevent folding nor count as a difference', () => {
  const of = (number: number, last: string | number | null): DeviceRecord => ({
    uuid: `id-${number}`,
    username: 'alice',
    api_token: `t0k3n${number}`,
    password: '*'.repeat(number + 5),
    otp: '•'.repeat(number + 5),
    last_login: last,
    settings: { theme: 'dark', token: `s${number}`, modified_at: number * 1_700_000_000 },
  });
  expect(
    folded([of(1, null)], [of(2, 1_763_800_000)], [of(3, '2026-11-22T09:00:00Z')]),
  ).toMatchObject([{ devices: 'fw1,fw2,fw3', note: '' }]);
  // What an account may do until when is no such thing.
  expect(
    folded([{ ...of(1, null), expires: '' }], [{ ...of(2, null), expires: '2027-01-01' }]),
  ).toMatchObject([{ note: 'differs: expires' }, { note: 'differs: expires' }]);
  // Nor is the natural key, whatever it is called.
  const tokens = ['a', 'b'].map((token, index) => ({
    device: index === 0 ? fw1 : fw2,
    records: [{ token }],
  }));
  expect(foldRecords(tokens, 'token', [])).toHaveLength(2);
});

test('rows claim nothing about devices that were not read', () => {
  const note = (unread: number, ...reads: (readonly DeviceRecord[])[]) =>
    foldRecords(
      reads.map((records, index) => ({ device: device(`fw${index}`), records })),
      'username',
      [],
      unread,
    ).map((row) => foldNote(row));
  const bob = { username: 'bob' };
  expect(note(2, [bob])).toEqual(['here; 2 not read']);
  expect(note(2, [bob], [])).toEqual(['here; 2 not read']);
  expect(note(2, [bob], [bob])).toEqual(['same on 2 read']);
  expect(note(2, [bob], [bob], [])).toEqual(['on 2 of 3 read']);
  expect(note(0, [bob])).toEqual(['']);
});

test('devices that are added one by one, in any order, give the same rows as all at once', () => {
  const record = fc.record(
    {
      username: fc.constantFrom('a', 'b', 'c', ''),
      lang: fc.constantFrom('de', 'en'),
      note: fc.constantFrom('', 'x'),
      uuid: fc.nat(),
    },
    { requiredKeys: ['username'] },
  );
  const lists = fc.array(fc.array(record, { maxLength: 4 }), { minLength: 2, maxLength: 6 });
  const order = fc.array(fc.nat(1000), { minLength: 6, maxLength: 6 });
  fc.assert(
    fc.property(lists, order, fc.constantFrom('username', ''), (all, numbers, keyField) => {
      const reads = all.map((records, index) => ({ device: device(`fw${index}`), records }));
      const arriving = reads
        .map((read, place) => ({ read, place, at: numbers[place] ?? 0 }))
        .sort((a, b) => a.at - b.at);
      const fold = new Fold(keyField, ['uuid']);
      const seen: { rows: readonly FoldedRow[]; text: string }[] = [];
      for (const [index, { read, place }] of arriving.entries()) {
        fold.add(read, place);
        const rows = fold.rows(reads.length - index - 1);
        if (index > 0) {
          const before = arriving.slice(0, index + 1).sort((a, b) => a.place - b.place);
          const together = before.map((one) => one.read);
          expect(rows).toEqual(foldRecords(together, keyField, ['uuid'], reads.length - index - 1));
        }
        seen.push({ rows, text: JSON.stringify(rows) });
      }
      // What was given before stays as it was.
      for (const { rows, text } of seen) expect(JSON.stringify(rows)).toBe(text);
    }),
  );
});
