import { expect, test } from 'vitest';
import { matchRows } from '../../../src/change/record-file/match-rows.ts';
import { readRecordFile } from '../../../src/change/record-file/read-record-file.ts';
import { Problems } from '../../../src/change/record-file/record-file.ts';
import { documentedProfile } from '../../../src/device/built-in-profiles.ts';
import { renderedText } from '../../../src/output/writers.ts';
import { EXPORT_VIEW } from './export-view.ts';

const COUNT = 100_000;

const RECORDS = Array.from({ length: COUNT }, (_, index) => ({
  uuid: `id-${index}`,
  username: `user${index}`,
  first_name: 'Ada',
  lastname: `O'Neill, ${index}`,
  lang: 'de',
}));

test.each(['csv', 'jsonl'] as const)(
  'reads and matches 100,000 records of a %s file in time in proportion to their number',
  async (format) => {
    const text = await renderedText(format, [
      {
        kind: 'read',
        view: EXPORT_VIEW,
        device: { name: 'fw1', address: '10.0.0.1:443' },
        outcome: { ok: true, records: RECORDS },
      },
    ]);
    const problems = new Problems();
    const file = readRecordFile(text, `users.${format}`, (name) => name);
    const held = RECORDS.map((record, index) =>
      index % 1000 === 0 ? { ...record, lang: 'en' } : record,
    );
    const about = { name: 'fw1', profile: documentedProfile, resource: 'user', records: held };
    const { changes, unchanged } = matchRows(
      about,
      file.rows,
      { isCells: file.isCells, prune: true },
      problems,
    );
    expect(changes.length).toBe(100);
    expect(unchanged).toBe(COUNT - 100);
  },
  120_000,
);
