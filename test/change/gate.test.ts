import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Answer, consentTo, type Intent, mayAct } from '../../src/change/gate.ts';
import { meantBy } from '../../src/change/lineage.ts';
import { canonicalId, identityOf, likenessOf, type Meant } from '../../src/change/identity.ts';
import { drfProfile } from '../../src/device/built-in-profiles.ts';
import type { DeviceRecord } from '../../src/device/record.ts';
import { rounds } from '../rounds.ts';

const profile = { ...drfProfile, idFields: ['id'] };

function account(id: string, username: string, email = `${username}@x`): DeviceRecord {
  return { id, username, email, first_name: '', last_name: '', lang: 'en' };
}

const BOB = account('2', 'bob');
const OTHERS = [account('1', 'ann'), account('3', 'cyd')];

interface Case {
  readonly action?: Intent['action'];
  readonly meant?: Partial<Meant>;
  readonly writes?: DeviceRecord;
  readonly now: readonly DeviceRecord[];
}

function answerTo({ action = 'set', meant = {}, writes = { lang: 'de' }, now }: Case): Answer {
  const expected: Meant = { ...identityOf(profile, 'username', BOB), age: 'older', ...meant };
  const reading = { profile, keyField: 'username', device: 'fw1', records: [...OTHERS, ...now] };
  return mayAct({ action, resource: 'user', meant: expected, writes }, reading);
}

const ROB = { ...BOB, username: 'rob' };
const NEW_BOB = account('9', 'bob', 'other@x');
const NO_ID = { id: undefined };
const DOUBT = { code: 'not-as-meant', is: 'other-pin', name: 'fw1' } as const;
const GONE = { isIdGone: true } as const;

test.each<[what: string, kind: Answer['kind'], given: Case]>([
  ['nothing has changed', 'go', { now: [BOB] }],
  ['only other values have changed', 'go', { now: [{ ...BOB, lang: 'fr' }] }],
  ['the id is written in another way', 'go', { meant: { id: '2' }, now: [{ ...BOB, id: 2 }] }],
  ['it was renamed', 'ask', { now: [ROB] }],
  ['the intent itself has renamed it', 'go', { writes: { username: 'rob' }, now: [ROB] }],
  ['its e-mail is another one', 'ask', { now: [{ ...BOB, email: 'other@x' }] }],
  [
    'the intent writes the e-mail',
    'go',
    { writes: { email: 'b@x' }, now: [{ ...BOB, email: 'b@x' }] },
  ],
  [
    'its names are other ones, but id and e-mail agree',
    'go',
    { meant: { person: { ...BOB, last_name: 'Ng' } }, now: [{ ...BOB, last_name: 'York' }] },
  ],
  ['its e-mail is empty now', 'go', { now: [{ ...BOB, email: '' }] }],
  ['its e-mail is in capitals now', 'go', { now: [{ ...BOB, email: 'BOB@X' }] }],
  ['another record has the name', 'drift', { now: [NEW_BOB] }],
  ['the id and the name are on two records', 'drift', { now: [ROB, NEW_BOB] }],
  ['it is gone', 'absent', { now: [] }],
  ['no id is known, and the e-mail agrees', 'go', { meant: NO_ID, now: [{ ...BOB, id: '9' }] }],
  ['no id is known, and the e-mail contradicts', 'drift', { meant: NO_ID, now: [NEW_BOB] }],
  ['no id and no person are known', 'ask', { meant: { ...NO_ID, person: {} }, now: [BOB] }],
  ['the e-mail that agrees is shared', 'ask', { meant: NO_ID, now: [BOB, { ...ROB, id: '8' }] }],
  [
    'the id was not in the list in between, and the e-mail agrees',
    'go',
    { meant: GONE, now: [BOB] },
  ],
  [
    'the id was not in the list in between, and the e-mail contradicts',
    'drift',
    { meant: GONE, now: [{ ...BOB, email: 'other@x' }] },
  ],
  [
    'the id was not in the list in between, and no person is known',
    'ask',
    { meant: { ...GONE, person: {} }, now: [BOB] },
  ],
  [
    'the id was not in the list in between, and another name has it',
    'absent',
    { meant: GONE, now: [ROB] },
  ],
  [
    'the id was not in the list in between, and another id has the name',
    'drift',
    { meant: GONE, now: [{ ...BOB, id: '9' }] },
  ],
  [
    'the id was not in the list in between, two have the name, and one of them agrees',
    'go',
    { meant: { ...GONE, isKeyShared: true }, now: [BOB, NEW_BOB] },
  ],
  [
    'the id was not in the list in between, and two others have the name',
    'drift',
    { meant: GONE, now: [NEW_BOB, { ...NEW_BOB, id: '8' }] },
  ],
  ['two records have the name, and the id says which', 'go', { now: [BOB, NEW_BOB] }],
  ['two records have the name, and no id is known', 'drift', { meant: NO_ID, now: [BOB, NEW_BOB] }],
  [
    'it shared its name with the one that is left',
    'absent',
    { meant: { isKeyShared: true }, now: [NEW_BOB] },
  ],
  ['the device may be another one', 'ask', { meant: { doubt: DOUBT }, now: [BOB] }],
  ['the filter still matches', 'go', { meant: { filter: 'lang=en' }, now: [BOB] }],
  ['the filter matches no longer', 'drift', { meant: { filter: 'lang=fr' }, now: [BOB] }],
  [
    'the intent has written the field of the filter',
    'go',
    { meant: { filter: 'lang=fr' }, now: [{ ...BOB, lang: 'de' }] },
  ],
  ['an add finds the name free', 'absent', { action: 'add', now: [] }],
  ['an add finds the same person', 'go', { action: 'add', now: [{ ...BOB, id: '9' }] }],
  ['an add finds the name with another person', 'drift', { action: 'add', now: [NEW_BOB] }],
  ['an add finds its old id given again', 'absent', { action: 'add', now: [account('2', 'zoe')] }],
  ['a run has written to somebody else there', 'ask', { meant: { isIdTaken: true }, now: [BOB] }],
  ['that one is gone', 'absent', { action: 'add', meant: { isIdTaken: true }, now: [] }],
  ['an add on a device in doubt', 'ask', { action: 'add', meant: { doubt: DOUBT }, now: [] }],
  ['a fresh intent finds it renamed', 'drift', { meant: { age: 'fresh' }, now: [ROB] }],
  [
    'a fresh intent finds another person',
    'drift',
    { meant: { age: 'fresh' }, now: [{ ...BOB, email: 'o@x' }] },
  ],
  ['a fresh intent finds it as it was', 'go', { meant: { age: 'fresh' }, now: [BOB] }],
  [
    'a consent names the record that is asked about',
    'go',
    { meant: { also: [{ key: 'rob' }] }, now: [ROB] },
  ],
  ['a consent names another key', 'ask', { meant: { also: [{ key: 'bob' }] }, now: [ROB] }],
  [
    'a consent does not overrule drift',
    'drift',
    { meant: { also: [{ key: 'bob' }] }, now: [NEW_BOB] },
  ],
])('%s: %s', (_, kind, given) => {
  expect(answerTo(given).kind).toBe(kind);
});

test.each([
  ['one of four differs', { email: 'zed@x' }, 'go'],
  ['as many agree as differ', { email: 'zed@x', first_name: 'zed' }, 'go'],
  [
    'one that another record shows, too, agrees with nothing',
    { email: 'zed@x', first_name: 'zed', last_name: 'Young' },
    'ask',
  ],
  ['more differ than agree', { email: 'zed@x', first_name: 'zed', full_name: 'Zed York' }, 'ask'],
  ['what it writes is there already', { email: 'bob@x', first_name: 'Rob' }, 'go'],
])('an intent that writes all of a person: %s', (_, changed, kind) => {
  const bob = {
    ...{ ...BOB, email: 'bob@x', first_name: 'bob' },
    ...{ last_name: 'York', full_name: 'Bob York' },
  };
  const { person } = identityOf(profile, 'username', bob);
  const writes = { email: 'b@x', first_name: 'Rob', last_name: 'Young', full_name: 'Rob Young' };
  const other = { ...account('7', 'eve'), last_name: 'Young' };
  const now = [{ ...bob, ...changed }, other];
  expect(answerTo({ meant: { person }, writes, now }).kind).toBe(kind);
});

test('a yes holds for the record that was shown, and for no other', () => {
  const asked = answerTo({ now: [ROB] });
  if (asked.kind !== 'ask') throw new Error('not asked');
  const also = [consentTo({ profile, keyField: 'username' }, { key: 'bob' }, asked.record)];
  expect(answerTo({ meant: { also }, now: [ROB] })).toMatchObject({ kind: 'go', record: ROB });
  expect(answerTo({ meant: { also }, now: [{ ...ROB, email: 'third@x' }] }).kind).toBe('ask');
});

test('positions in a list are no ids, and a unique name is enough where records are no accounts', () => {
  const positional = { ...profile, ids: 'positional' as const };
  const meant: Meant = { ...identityOf(profile, 'username', BOB), age: 'older' };
  const intent = { action: 'set' as const, resource: 'user', meant, writes: {} };
  const moved = { ...BOB, id: '1' };
  const reading = { profile: positional, keyField: 'username', device: 'fw1', records: [moved] };
  expect(mayAct(intent, reading)).toMatchObject({ kind: 'go', record: moved });
  const eth = { id: '7', name: 'eth0', mtu: 1500 };
  const interfaces = { ...reading, profile, keyField: 'name', records: [eth] };
  const other: Meant = { id: '2', key: 'eth0', person: {}, age: 'older' };
  const set = { action: 'set' as const, resource: 'interface', meant: other, writes: {} };
  expect(mayAct(set, interfaces)).toMatchObject({ kind: 'go', record: eth });
});

test.each([
  ['6F9619FF-8B86-D011-B42D-00C04FC964FF', '6f9619ff8b86d011b42d00c04fc964ff'],
  ['%7B6f9619ff-8b86-d011-b42d-00c04fc964ff%7D', '{6F9619FF8B86D011B42D00C04FC964FF}'],
  ['a%2Fb', 'a/b'],
])('%s and %s are one id', (one, other) => {
  expect(canonicalId(one)).toBe(canonicalId(other));
});

const person = fc.constantFrom('', 'a@x', 'b@x', 'c@x');
const record = fc.record({
  id: fc.constantFrom('1', '2', '3', '4'),
  username: fc.constantFrom('bob', 'rob', 'ann'),
  email: person,
  first_name: fc.constantFrom('', 'Bob', 'Ann'),
});
const reading = fc.uniqueArray(record, { maxLength: 4, selector: ({ id }) => id });
const meant = fc.record({
  ...{ id: fc.constantFrom(undefined, '1', '2'), key: fc.constantFrom('bob', 'ann') },
  person: fc.record({ email: person, first_name: fc.constantFrom('', 'Bob', 'Ann') }),
  age: fc.constantFrom('older' as const, 'fresh' as const),
});

test('no record that contradicts is touched without a question, in whatever order the device lists them', () => {
  const property = fc.property(
    reading,
    meant,
    fc.constantFrom<Intent['action']>('set', 'delete'),
    (records, whom, action) => {
      const ask = (list: readonly DeviceRecord[]): Answer =>
        mayAct(
          { action, resource: 'user', meant: whom, writes: {} },
          { profile, keyField: 'username', device: 'fw1', records: list },
        );
      const answer = ask(records);
      expect(ask(records.toReversed())).toMatchObject({ kind: answer.kind });
      if (answer.kind !== 'go') return;
      const { record: found } = answer;
      const others = records.filter((one) => one !== found);
      const { agreeing, contradicting } = likenessOf(whom.person, found, others);
      // Names change; an id and an e-mail belong to one person.
      const isPerson = whom.id !== undefined && agreeing.includes('e-mail');
      expect(isPerson ? [] : contradicting).toEqual([]);
      expect(found['username']).toBe(whom.key);
      if (whom.id !== undefined) expect(found['id']).toBe(whom.id);
      else if (whom.age === 'older') expect(agreeing).not.toEqual([]);
    },
  );
  fc.assert(property, { numRuns: rounds(5000) });
});

test('an id that was gone once stays so, whatever later lists show', () => {
  const followed = { device: { name: 'fw1', address: 'fw1:443' }, resource: 'user', profile };
  const bob = { id: '1', key: 'bob', person: {} };
  const meant = meantBy([], { ...followed, goneAt: () => undefined }, bob, 0);
  expect({ ...GONE, ...meant }).toMatchObject({ ...bob, ...GONE, age: 'older' });
});
