import fc from 'fast-check';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SettingsError } from '../../src/errors.ts';
import { GoodCopy } from '../../src/settings/cache.ts';
import { KnownDevices, type Pin } from '../../src/settings/known-devices.ts';
import { makeTempFolder } from './temp-folder.ts';
import { rounds } from '../rounds.ts';

const FINGERPRINT = Array.from({ length: 32 }, (_, index) =>
  (index + 160).toString(16).toUpperCase(),
).join(':');

function makePin(fields: Partial<Pin> = {}): Pin {
  return {
    address: '10.0.0.5:443',
    fingerprint: FINGERPRINT,
    firstSeen: '2026-11-21T10:00:00.000Z',
    validTo: '2036-11-21T10:00:00.000Z',
    subject: 'CN=fw1, O=Ärger & Co',
    ...fields,
  };
}

async function all(known: KnownDevices): Promise<Pin[]> {
  return [...(await known.pinFile()).pins.values()];
}

function openKnown(path: string): KnownDevices {
  return new KnownDevices(path, new GoodCopy(`${path}.good`));
}

async function makeFile(text?: string) {
  const path = join(await makeTempFolder(), 'known-devices');
  if (text !== undefined) await writeFile(path, text);
  return { path, known: openKnown(path), read: () => readFile(path, 'utf8') };
}

test('writes a pin that people can read', async () => {
  const { known, read } = await makeFile();
  await known.set(makePin());
  expect(await read()).toBe(
    '# Certificates that devsh trusts, one line a device. See `devsh help trust`.\n' +
      `10.0.0.5:443 sha256:${FINGERPRINT} first-seen=2026-11-21T10:00:00.000Z ` +
      'valid-to=2036-11-21T10:00:00.000Z subject=CN=fw1, O=Ärger & Co\n',
  );
  expect(await known.find('10.0.0.5:443')).toEqual(makePin());
  expect(await known.find('10.0.0.6:443')).toBeUndefined();
});

test('replaces and removes a pin, and keeps all other lines', async () => {
  const { known, read } = await makeFile('# mine\n\n');
  await known.set(makePin());
  await known.set(makePin({ address: '10.0.0.6:8443', subject: '' }));
  await known.set(makePin({ subject: 'CN=new' }));
  expect((await all(known)).map(({ subject }) => subject)).toEqual(['CN=new', '']);
  expect(await known.remove('10.0.0.5:443')).toBe(true);
  expect(await known.remove('10.0.0.5:443')).toBe(false);
  expect((await read()).startsWith('# mine\n\n10.0.0.6:8443 sha256:')).toBe(true);
});

test('accepts what a hand has written: small letters, no port, CRLF', async () => {
  const { known } = await makeFile(
    `10.0.0.5  sha256:${FINGERPRINT.toLowerCase()} first-seen=2026-11-21T10:00:00Z valid-to=2030-01-01T00:00:00Z subject=CN=x\r\n`,
  );
  expect(await known.find('10.0.0.5:443')).toMatchObject({
    fingerprint: FINGERPRINT,
    subject: 'CN=x',
  });
});

test.each([
  ['10.0.0.6:443 what\n', ':2: not a pin'],
  [`10.0.0.6 sha256:AB first-seen=x valid-to=y subject=z\n`, ':2: the fingerprint must be'],
  [`10.0.0.6 sha256:${FINGERPRINT} first-seen=x valid-to=y subject=z\n`, ':2: not a date'],
  [
    `10.0.0.300 sha256:${FINGERPRINT} first-seen=2026-11-21T10:00:00Z valid-to=2026-11-21T10:00:00Z subject=z\n`,
    ':2: "10.0.0.300"',
  ],
  [
    `10.0.0.5 sha256:${FINGERPRINT} first-seen=2026-11-21T10:00:00Z valid-to=2026-11-21T10:00:00Z subject=z\n`.repeat(
      2,
    ),
    ':3: 10.0.0.5:443 is already pinned in line 2',
  ],
])('names the line that says %j, and writes nothing', async (line, message) => {
  const text = `# pins\n${line}`;
  const { known, path, read } = await makeFile(text);
  await expect(all(known)).rejects.toThrow(`${path}${message}`);
  await expect(known.set(makePin())).rejects.toThrow(SettingsError);
  await expect(known.remove('10.0.0.5:443')).rejects.toThrow(SettingsError);
  expect(await read()).toBe(text);
});

test('sees at once what another session or an editor has changed', async () => {
  const { known, path, read } = await makeFile();
  await known.set(makePin());
  expect((await known.find('10.0.0.5:443'))?.subject).toBe('CN=fw1, O=Ärger & Co');
  await writeFile(path, (await read()).replace('CN=fw1', 'CN=fw2'));
  expect((await known.find('10.0.0.5:443'))?.subject).toBe('CN=fw2, O=Ärger & Co');
  await openKnown(path).remove('10.0.0.5:443');
  expect(await known.find('10.0.0.5:443')).toBeUndefined();
});

test('two sessions lose no pin', async () => {
  const { known, path } = await makeFile();
  const other = openKnown(path);
  await Promise.all(
    [1, 2, 3, 4, 5, 6].map((number) =>
      (number % 2 ? known : other).set(makePin({ address: `10.0.0.${number}:443` })),
    ),
  );
  expect(await all(known)).toHaveLength(6);
});

test('any subject comes back as it was, on one line', async () => {
  const { known, read } = await makeFile();
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary' }), async (subject) => {
      await known.set(makePin({ subject }));
      expect((await known.find('10.0.0.5:443'))?.subject).toBe(subject);
      expect((await read()).split('\n')).toHaveLength(3);
    }),
    { numRuns: rounds(60) },
  );
});

test('whatever bytes are damaged, it reads or names the line, and resets nothing', async () => {
  const { known, path, read } = await makeFile();
  for (const number of [1, 2, 3]) await known.set(makePin({ address: `10.0.0.${number}:443` }));
  const intact = await read();
  await fc.assert(
    fc.asyncProperty(
      fc.nat(intact.length - 1),
      fc.oneof(fc.constant(''), fc.string({ unit: 'binary', maxLength: 3 })),
      fc.boolean(),
      async (position, replacement, cut) => {
        const rest = cut ? '' : intact.slice(position + 1);
        const damaged = intact.slice(0, position) + replacement + rest;
        await writeFile(path, damaged);
        const before = await readFile(path);
        const attempt = await known
          .set(makePin({ address: '10.9.9.9:443' }))
          .catch((e: unknown) => e);
        if (attempt !== undefined) {
          expect(attempt).toBeInstanceOf(SettingsError);
          expect(await readFile(path)).toEqual(before);
        } else {
          expect(await known.find('10.9.9.9:443')).toBeDefined();
        }
      },
    ),
    { numRuns: rounds(150) },
  );
});

test('a pin that something else takes away or alters is in doubt until it is restored', async () => {
  const { known, path, read } = await makeFile();
  for (const number of [1, 2, 3]) await known.set(makePin({ address: `10.0.0.${number}:443` }));
  const intact = await read();
  const lines = intact.split('\n');
  const altered = lines[2]?.replace('sha256:A0', 'sha256:B0') ?? '';
  await writeFile(path, [lines[0], altered, lines[3], ''].join('\n'));
  expect((await known.pinFile()).doubts).toMatchObject([
    { pin: { address: '10.0.0.1:443' }, reason: 'gone' },
    { pin: { address: '10.0.0.2:443' }, reason: 'differs' },
  ]);

  // A change of ours in between blesses nothing.
  await known.set(makePin({ address: '10.0.0.4:443' }));
  expect((await known.pinFile()).doubts).toHaveLength(2);

  const { pins, aside } = await known.restore(new Date());
  expect(pins).toBe(4);
  expect((await known.pinFile()).doubts).toEqual([]);
  expect(await read()).toContain(intact);
  expect(await readFile(aside ?? '', 'utf8')).toContain(altered);
});

test('what a command pins or forgets is in doubt no more', async () => {
  const { known, path, read } = await makeFile();
  for (const number of [1, 2]) await known.set(makePin({ address: `10.0.0.${number}:443` }));
  await writeFile(path, (await read()).split('\n').slice(0, 1).join('\n') + '\n');
  expect((await known.pinFile()).doubts).toHaveLength(2);
  expect(await known.remove('10.0.0.1:443')).toBe(true);
  await known.set(makePin({ address: '10.0.0.2:443' }));
  expect((await known.pinFile()).doubts).toEqual([]);
});

test('pins that a hand has added stay when the good copy is restored', async () => {
  const { known, path, read } = await makeFile();
  await known.set(makePin());
  const own = `10.0.0.9:443 sha256:${FINGERPRINT} first-seen=2026-11-21T10:00:00.000Z\n`;
  await writeFile(path, own + (await read()).replace(' sha256:', ' sha2:'));
  await expect(all(known)).rejects.toThrow('"trust restore" restores');
  expect((await known.restore(new Date())).pins).toBe(2);
  expect((await all(known)).map(({ address }) => address)).toEqual([
    '10.0.0.5:443',
    '10.0.0.9:443',
  ]);
});
