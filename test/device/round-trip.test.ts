import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  documentedProfile,
  drfProfile,
  formActionProfile,
} from '../../src/device/built-in-profiles.ts';
import { decodeList } from '../../src/device/decode.ts';
import { createRequest, encodeForm, updateRequest } from '../../src/device/encode.ts';
import { ProtocolError } from '../../src/device/errors.ts';
import {
  type DeviceRecord,
  formText,
  isValueList,
  jsonText,
  type Value,
} from '../../src/device/record.ts';
import { readPages } from '../../src/device/pages.ts';
import type { Profile } from '../../src/device/profile.ts';

/** No id, and no name that says what a form or an answer is about. */
const field = fc
  .stringMatching(/^[a-z][a-z0-9_]{0,12}$/)
  .filter(
    (name) =>
      !/^(?:id|uuid|pk|action|username|lang|status|result|success|ok|error|errors|message|msg|detail|validations)$/.test(
        name,
      ),
  );

const text = fc.string({ unit: 'grapheme' });
const scalar: fc.Arbitrary<Value> = fc.oneof(text, fc.integer(), fc.bigInt(), fc.boolean());
const record: fc.Arbitrary<DeviceRecord> = fc
  .tuple(
    fc.string({ unit: 'grapheme', minLength: 1 }).filter((name) => name.trim() !== ''),
    fc.dictionary(field, fc.oneof(scalar, fc.array(text, { minLength: 2, maxLength: 4 })), {
      noNullPrototype: true,
    }),
  )
  .map(([username, others]) => ({ username, lang: 'de', ...others }));

/** As a form spells it. */
function spelled(value: Value): Value {
  return isValueList(value) ? value.map((item) => formText(item)) : formText(value);
}

test.each<Profile>([documentedProfile, formActionProfile])(
  'any record in a form is read as it was written, with $name',
  (profile) => {
    fc.assert(
      fc.property(record, (fields) => {
        const { form = [] } = createRequest(profile, 'user', fields);
        const [read = {}] = decodeList(encodeForm(form), 'user', profile).records;
        for (const [name, value] of Object.entries(fields)) {
          expect([name, read[name]]).toEqual([name, spelled(value)]);
        }
      }),
    );
  },
);

test('any record in JSON is read as it was written, whatever is in it', () => {
  const value = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Value>;
  fc.assert(
    fc.property(
      record,
      fc.dictionary(field, value, { noNullPrototype: true }),
      (fields, nested) => {
        const whole = { ...fields, ...nested };
        const { json = {} } = createRequest(drfProfile, 'user', whole);
        const [read] = decodeList(jsonText(json), 'user', drfProfile).records;
        expect(jsonText(read ?? null)).toBe(jsonText(whole));
      },
    ),
  );
});

test('a change in JSON has what changes, and nothing else', () => {
  fc.assert(
    fc.property(
      record,
      fc.dictionary(field, text, { noNullPrototype: true }),
      (before, changes) => {
        const request = updateRequest(drfProfile, 'user', { ...before, id: 7 }, changes);
        expect(request.path).toBe('/api/user/7/');
        expect(Object.keys(request.json ?? {}).toSorted()).toEqual(Object.keys(changes).toSorted());
      },
    ),
  );
});

test('any pages end in records or a clear error, after a bounded number of requests', async () => {
  const number = fc.integer({ min: 0, max: 9 });
  const page = fc.record(
    {
      data: fc.array(fc.record({ username: fc.constantFrom('a', 'b', 'c'), uuid: number }), {
        maxLength: 3,
      }),
      total: number,
      count: number,
      page: number,
      offset: number,
      next: fc.constantFrom(
        null,
        '?page=2',
        '?page=3',
        '/api/user/',
        'https://other/api/user/?p=1',
      ),
    },
    { requiredKeys: ['data'] },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(page, { minLength: 1, maxLength: 5 }), async (pages) => {
      let count = 0;
      const read = (): Promise<ReturnType<typeof decodeList>> => {
        const answer = pages[count % pages.length];
        count += 1;
        return Promise.resolve(decodeList(JSON.stringify(answer), 'user'));
      };
      try {
        await readPages('/api/user/', { name: 'fw1', address: '10.0.0.1' }, read);
      } catch (error) {
        expect(error).toBeInstanceOf(ProtocolError);
      }
      expect(count).toBeLessThan(100);
    }),
  );
});
