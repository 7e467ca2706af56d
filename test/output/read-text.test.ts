import fc from 'fast-check';
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { widthOf } from '../../src/text/visible.ts';
import { fw1, fw2, fw3, read, unreachable, write } from './collect.ts';

const alice = { uuid: '6f1c', username: 'alice', first_name: 'Alice', age: 9, lang: 'de' };
const li = { uuid: '77aa', username: 'li', first_name: '李雷', age: 31, lang: 'zh' };
const three = [
  read(fw1, [alice, { ...li, lang: 'en' }]),
  read(fw3, unreachable),
  read(fw2, [{ ...alice, uuid: '0b7e' }, li, { username: 'bob', token: 'hush' }]),
];

test('a terminal gets an aligned table, the reasons of failed devices and a footer', () => {
  const { out, err } = write('table', three, { isTty: true });
  expect('\n' + out).toMatchInlineSnapshot(`
    "
    USERNAME  FIRST NAME  AGE  LANG  TOKEN  DEVICE
    alice     Alice         9  de           fw1,fw2  same on 2 read
    bob                              •••    fw2      here; 1 not read
    li        李雷         31  en           fw1      differs: lang
    li        李雷         31  zh           fw2      differs: lang
    "
  `);
  expect('\n' + err).toMatchInlineSnapshot(`
    "
    5 records on 2 devices read, 1 not read, 1 same on 2 read, uuid hidden
    ✗ fw3: no answer within 5 s
    "
  `);
});

test('another program gets tabs, a header line and no footer', () => {
  const { out, err } = write('table', three);
  expect('\n' + out.replaceAll('\t', '→')).toMatchInlineSnapshot(`
    "
    DEVICE→USERNAME→FIRST NAME→AGE→LANG→TOKEN→UUID→NOTE
    fw1,fw2→alice→Alice→9→de→→(2 values)→same on 2 read
    fw1→li→李雷→31→en→→77aa→differs: lang
    fw2→li→李雷→31→zh→→77aa→differs: lang
    fw2→bob→→→→•••→→here; 1 not read
    "
  `);
  expect(err).toBe('✗ fw3: no answer within 5 s\n');
});

test('without folding each device has its own rows, sorted as asked', () => {
  const unfolded = three.map((output) => ({
    ...output,
    view: {
      ...output.view,
      fold: false,
      columns: ['username', 'lang'],
      sort: ['username', '-device'],
    },
  }));
  const { out } = write('table', unfolded, { isTty: true });
  expect('\n' + out).toMatchInlineSnapshot(`
    "
    USERNAME  LANG  DEVICE
    alice     de    fw1,fw2  same on 2 read
    bob             fw2      here; 1 not read
    li        zh    fw2      differs: lang
    li        en    fw1      differs: lang
    "
  `);
});

const bob = { uuid: '6f1c', first_name: 'Bob', username: 'bob', lang: 'de', joined: '' };
const ofBob = [
  read(fw1, [bob], { layout: 'record', fold: false }),
  read(fw2, [{ ...bob, uuid: '0b7e', lang: 'en', password: 'x' }], { layout: 'record' }),
  read(fw3, unreachable, { layout: 'record' }),
];

test('a terminal shows one record of several devices as the screen does', () => {
  expect('\n' + write('table', ofBob, { isTty: true }).out).toMatchInlineSnapshot(`
    "
    on 2 of 2 read

      username    bob
    ≠ lang        de  fw1
                  en  fw2
      first_name  Bob
      joined      ""
      uuid        6f1c  fw1
                  0b7e  fw2
      password    absent  fw1
                  •••     fw2

    not read: fw3
    "
  `);
  // Without room beside each other, by value.
  expect('\n' + write('table', ofBob, { isTty: true, columns: 40 }).out).toMatchInlineSnapshot(`
    "
    on 2 of 2 read

      username    bob
    ≠ lang        de  fw1
                  en  fw2
      first_name  Bob
      joined      ""
      uuid        6f1c  fw1
                  0b7e  fw2
      password    absent  fw1
                  •••     fw2

    not read: fw3
    "
  `);
});

test('programs and screen readers get one record as a block for each device, with whole values', () => {
  const [first, second] = ['x'.repeat(30), 'y'.repeat(5_000)];
  const long = { ...bob, [first]: second };
  const outputs = [read(fw1, [long], { layout: 'record' }), ...ofBob.slice(1)];
  const { out } = write('table', outputs);
  expect('\n' + out.replace(second, 'Y')).toMatchInlineSnapshot(`
    "
    fw1
      username                        bob
      first_name                      Bob
      lang                            de
      joined                          ""
      xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx  Y
      uuid                            6f1c

    fw2
      username    bob
      first_name  Bob
      lang        en
      joined      ""
      uuid        0b7e
      password    •••
    "
  `);
  const typed = { text: '', columns: 40, isReadAloud: true };
  expect(write('table', outputs, { isTty: true, columns: 40, typed }).out).toBe(out);
  // The only device of a terminal, too.
  expect(write('table', outputs.slice(0, 1), { isTty: true, columns: 40 }).out).toContain(second);
});

test('a record without a name stands alone, and a single object has one place for all devices', () => {
  const nameless = [read(fw1, [{ lang: 'de' }, { lang: 'en' }], { layout: 'record' })];
  expect(write('table', nameless, { isTty: true }).out).toBe(
    'fw1\n  lang   de\n\nfw1\n  lang   en\n',
  );
  const single = [fw1, fw2].map((device) => read(device, [{ place: device.name }], { key: '' }));
  expect('\n' + write('table', single, { isTty: true }).out).toMatchInlineSnapshot(`
    "
    on all 2

    ≠ place  fw1  fw1
             fw2  fw2
    "
  `);
});

test('when no device answered there are only the reasons', () => {
  const { out, err } = write('table', [read(fw3, unreachable)], { isTty: true });
  expect(out).toBe('');
  expect(err).toBe('✗ fw3: no answer within 5 s\n');
});

test('ids shrink before names, and no line is wider than the terminal', () => {
  const record = {
    username: 'alexandra',
    lang: 'de',
    uuid: '6f1c2d3a-0000-4000-8000-000000000001',
  };
  const asked = { columns: ['username', 'lang', 'uuid'] };
  const { out } = write('table', [read(fw1, [record], asked)], { isTty: true, columns: 40 });
  expect('\n' + out).toMatchInlineSnapshot(`
    "
    USERNAME   LANG  UUID             DEVICE
    alexandra  de    6f1c2d3a-0000-…  fw1
    "
  `);
});

test('no text of a device reaches the terminal unescaped or makes a line too wide', () => {
  const records = fc.array(
    fc.dictionary(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' })),
    { minLength: 1 },
  );
  fc.assert(
    fc.property(records, fc.integer({ min: 3, max: 120 }), (rows, columns) => {
      const { out } = write('table', [read(fw1, rows)], { isTty: true, columns });
      const lines = out.split('\n');
      // One line more names what there is no room for.
      const isNarrow = lines.length > rows.length + 2;
      if (isNarrow) expect(lines.at(-2)).toMatch(/^no/);
      expect(lines).toHaveLength(rows.length + (isNarrow ? 3 : 2));
      for (const line of lines) {
        expect(line).not.toMatch(/\p{Cc}/u);
        expect(widthOf(line)).toBeLessThanOrEqual(columns);
      }
    }),
  );
});

test('colour adds nothing that is not said without it', () => {
  const colored = write('table', three, { isTty: true, color: true });
  const plain = write('table', three, { isTty: true });
  expect(colored.out).toContain('\u001B[1m');
  expect(stripVTControlCharacters(colored.out)).toBe(plain.out);
  expect(stripVTControlCharacters(colored.err)).toBe(plain.err);
});

test('keys that are drawn the same are told apart, and a field with _ stands in its column', () => {
  const twins = ['admin', 'admin ', 'Jose\u0301', 'José'].map((username, index) => ({
    username,
    _id: `${index}`,
    id: '7',
    __app_state: 'on',
  }));
  expect('\n' + write('table', [read(fw1, twins)], { isTty: true }).out).toMatchInlineSnapshot(`
    "
    USERNAME      _ID  ID  __APP STATE  DEVICE
    admin           0   7  on           fw1
    'admin '        1   7  on           fw1
    Jose<U+0301>    2   7  on           fw1
    José            3   7  on           fw1
    "
  `);
  // For programs it stays as the device holds it.
  expect(write('table', [read(fw1, twins)]).out).toContain('fw1\tadmin \t1');
});
