import { createHash } from 'node:crypto';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Product, RunningProduct } from '../product.ts';
import { describeVerbs, type Subject } from '../verbs.ts';

const syncthing: Product = {
  name: 'Syncthing',
  profile: './products/syncthing.yaml',
  program: '/usr/bin/syncthing',
  login: { token: 'test-key' },
  headers: { 'x-api-key': 'test-key' },
  async setUp({ folder, ports: [https, sync] }) {
    const home = join(folder, 'home');
    await mkdir(home);
    await copyFile(join(folder, 'key.pem'), join(home, 'https-key.pem'));
    await copyFile(join(folder, 'cert.pem'), join(home, 'https-cert.pem'));
    // It talks to nobody outside.
    const options = {
      listenAddress: `tcp://127.0.0.1:${sync}`,
      globalAnnounceEnabled: false,
      localAnnounceEnabled: false,
      relaysEnabled: false,
      natEnabled: false,
      urAccepted: -1,
      autoUpgradeIntervalH: 0,
      crashReportingEnabled: false,
      stunKeepaliveStartS: 0,
      startBrowser: false,
    };
    const lines = Object.entries(options).map(([name, value]) => `<${name}>${value}</${name}>`);
    const gui = `<address>127.0.0.1:${https}</address><apikey>test-key</apikey>`;
    const config = [
      '<configuration version="36">',
      `<gui enabled="true" tls="true">${gui}</gui>`,
      `<options>${lines.join('')}</options>`,
      '</configuration>',
    ];
    await writeFile(join(home, 'config.xml'), config.join('\n'));
    const flags = ['--no-browser', '--no-restart', '--no-upgrade', '--no-default-folder'];
    const argv = ['/usr/bin/syncthing', 'serve', `--home=${home}`, ...flags];
    // Without its monitor, whose child would outlive it.
    return { argv, env: { STMONITORED: 'yes' } };
  },
};

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** A valid device id: base32 of a digest, with a check letter (Luhn mod 32) behind each 13, in groups of 7. */
function deviceId(name: string): string {
  const digest = [...createHash('sha256').update(name).digest()];
  const bits = digest.map((byte) => byte.toString(2).padStart(8, '0')).join('');
  const codes = `${bits}0000`.match(/.{5}/g)?.map((code) => parseInt(code, 2)) ?? [];
  const parts = [0, 1, 2, 3].map((part) => {
    const own = codes.slice(part * 13, part * 13 + 13);
    const sum = own.reduce((total, code, index) => {
      const addend = (1 + (index % 2)) * code;
      return total + Math.floor(addend / 32) + (addend % 32);
    }, 0);
    return [...own, (32 - (sum % 32)) % 32].map((code) => LETTERS[code]).join('');
  });
  return parts.join('').match(/.{7}/g)?.join('-') ?? '';
}

const listed =
  (resource: string) =>
  async ({ ask }: RunningProduct) =>
    (await ask('GET', `/rest/config/${resource}`)) as readonly Readonly<Record<string, unknown>>[];

const peerOf = (name: string) => ({
  deviceID: deviceId(name),
  name,
  paused: true,
  addresses: ['tcp://127.0.0.1:1'],
});

const peer: Subject = {
  resource: 'peer',
  keyField: 'deviceID',
  newKey: deviceId,
  held: listed('devices'),
  added: (key) => ({
    words: `deviceID=${key} name=new paused=true addresses:=["tcp://127.0.0.1:1"]`,
    fields: {
      name: 'new',
      paused: true,
      addresses: ['tcp://127.0.0.1:1'],
      compression: 'metadata',
    },
  }),
  set: {
    key: deviceId('a'),
    words: 'name=renamed maxSendKbps=5 allowedNetworks:=["192.0.2.0/24"]',
    fields: { name: 'renamed', maxSendKbps: 5, allowedNetworks: ['192.0.2.0/24'] },
    back: ({ ask }) =>
      ask('PATCH', `/rest/config/devices/${deviceId('a')}`, {
        name: 'a',
        maxSendKbps: 0,
        allowedNetworks: [],
      }),
  },
  deleted: [deviceId('b'), deviceId('c'), deviceId('d')],
};

const folder: Subject = {
  resource: 'folder',
  keyField: 'id',
  held: listed('folders'),
  added: (key) => ({
    words: `id=${key} label=New path=/nowhere/${key} paused=true`,
    fields: { label: 'New', type: 'sendreceive', rescanIntervalS: 3600 },
  }),
  set: {
    key: 'docs',
    words:
      'label=Papers minDiskFree.value=2 versioning:={"type":"trashcan","params":{"cleanoutDays":"5"},"cleanupIntervalS":60,"fsPath":"","fsType":"basic"}',
    fields: {
      label: 'Papers',
      minDiskFree: { value: 2, unit: '%' },
      versioning: {
        type: 'trashcan',
        params: { cleanoutDays: '5' },
        cleanupIntervalS: 60,
        fsPath: '',
        fsType: 'basic',
      },
    },
    // Not PATCH: it adds to params what it names, and takes nothing out.
    back: async ({ ask }) => {
      const docs = (await ask('GET', '/rest/config/folders/docs')) as object;
      await ask('PUT', '/rest/config/folders/docs', {
        ...docs,
        label: 'docs',
        minDiskFree: { value: 1, unit: '%' },
        versioning: { type: '', params: {}, cleanupIntervalS: 3600, fsPath: '', fsType: 'basic' },
      });
    },
  },
  deleted: ['one', 'two', 'three'],
};

describeVerbs(syncthing, [peer, folder], {
  async prepare({ ask }) {
    for (const name of ['a', 'b', 'c', 'd'])
      await ask('POST', '/rest/config/devices', peerOf(name));
    for (const id of ['docs', 'one', 'two', 'three']) {
      const own = { id, label: id, path: `/nowhere/${id}`, paused: true };
      await ask('POST', '/rest/config/folders', own);
    }
  },
  more(running) {
    test('options are one object: show, set, undo', async () => {
      const { ask, devsh } = running();
      const held = () => ask('GET', '/rest/config/options');
      const before = (await held()) as Readonly<Record<string, unknown>>;
      const { stdout } = await devsh('options show --on box --json');
      const { devices } = JSON.parse(stdout) as { devices: [{ records: unknown[] }] };
      expect(devices[0].records).toEqual([before]);
      const run = await devsh('options set maxSendKbps=7 minHomeDiskFree.value=2 --on box --yes');
      expect(run.stdout).toContain('✓ options');
      const minHomeDiskFree = { value: 2, unit: '%' };
      expect(await held()).toEqual({ ...before, maxSendKbps: 7, minHomeDiskFree });
      const undone = await devsh('undo --on box --yes');
      expect(undone.stdout).toContain('✓ options');
      expect(await held()).toEqual(before);
    });
  },
});
