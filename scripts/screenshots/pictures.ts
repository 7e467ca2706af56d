import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Simulator } from '../../src/simulator/simulator.ts';
import type { PtyProgram } from '../../test/pty/harness.ts';
import type { Stage, StageOptions } from './stage.ts';

/** One picture of README or docs: its devices, and the keys before it is taken. */
export interface Scene {
  readonly name: string;
  readonly title: string;
  readonly stage: StageOptions;
  readonly play: (stage: Stage) => Promise<void>;
}

const SIZE = { columns: 100, rows: 28 };

const FIREWALLS = ['fw1', 'fw2', 'fw3', 'fw4'];

const ROUTERS = Array.from(
  { length: 12 },
  (_, index) => `edge-${String(index + 1).padStart(2, '0')}`,
);

export const PICTURES: readonly Scene[] = [
  {
    name: 'connect',
    title: 'devsh connect @berlin',
    stage: {
      ...SIZE,
      rows: 22,
      names: FIREWALLS,
      users: 2,
      prepare: (simulator) => {
        addTeam(simulator);
        simulator.devices[3]?.setFault('refuse');
      },
    },
    play: async ({ program }) => {
      await program.waitFor(/users · .* records/);
      await isStill(program);
      await goToTable(program);
      await press(program, ['down', 'down', 'down'], /^▸.*bob/m);
    },
  },
  {
    name: 'form',
    title: 'e: change a user, in a form',
    stage: { ...SIZE, rows: 18, names: FIREWALLS, users: 2, profile: 'drf', prepare: addTeam },
    play: async ({ program }) => {
      await goToTable(program);
      await press(program, ['/'], 'filter');
      program.type('bob\r');
      await program.waitFor(/^▸.*bob/m);
      await press(program, ['e'], 'fields as the device tells them');
      program.type('by');
      await press(program, ['down', 'down', 'down', 'space'], /de {2}German/);
    },
  },
  {
    name: 'plan',
    title: 'devsh apply monday.yaml: look before it is sent',
    stage: { ...SIZE, rows: 22, names: FIREWALLS, users: 2, prepare: addTeam },
    play: async ({ program, folder }) => {
      const lines = [
        '- add: user',
        '  fields: {username: heidi, first_name: Heidi, lastname: Hill, lang: en}',
        '- set: user',
        '  key: bob',
        '  fields: {lang: de}',
        '- delete: user',
        '  key: viewer',
      ];
      await writeFile(join(folder, 'monday.yaml'), `${lines.join('\n')}\n`);
      program.type('apply monday.yaml\r');
      await program.waitFor('answer>');
      await isStill(program);
    },
  },
  {
    name: 'roll-out',
    title: 'a change on its way over twelve devices',
    stage: {
      ...SIZE,
      rows: 20,
      names: ROUTERS,
      users: 8,
      prepare: (simulator) => {
        simulator.devices[2]?.putUser({ ...CAROL, lang: 'en' });
        simulator.devices[4]?.setFault('accept-and-forget');
      },
    },
    play: async ({ program, simulator }) => {
      const fields = `username=${CAROL.username} first_name=Carol lastname=Clark lang=en`;
      program.type(`user add ${fields}\r`);
      await program.waitFor('answer>');
      // The roll-out stops at the eighth device.
      simulator.devices[7]?.setFault('silence');
      program.type(/Type (\d+) to do/.exec(program.screen().join('\n'))?.[1] ?? '');
      program.press('enter');
      await program.waitFor(/7 of 12|8 of 12/);
      await isStill(program);
    },
  },
  {
    name: 'drift',
    title: 'user list --drift: who is where, and what differs',
    stage: { ...SIZE, rows: 22, names: FIREWALLS, users: 2, prepare: addTeam },
    play: async ({ program }) => {
      await goToTable(program);
      await press(program, ['c'], /^▸ bob/m);
    },
  },
];

const CAROL = { username: 'carol', first_name: 'Carol', lastname: 'Clark', lang: 'en' };

const TEAM = [
  ['Alice', 'Ardent', 'fr'],
  ['Bob', 'Builder', 'de'],
  ['Carol', 'Clark', 'en'],
  ['Dave', 'Dunn', 'en'],
  ['Erin', 'Ellis', 'de'],
  ['Frank', 'Fisher', 'en'],
  ['Grace', 'Gray', 'de'],
  ['Temp', 'Account', 'en'],
] as const;

/** A team that is equal on all devices, except for Bob's language and two users that some devices lack. */
function addTeam({ devices }: Simulator): void {
  devices.forEach((device, index) => {
    for (const [first_name, lastname, lang] of TEAM) {
      const user = { username: first_name.toLowerCase(), first_name, lastname, lang };
      if (first_name === 'Bob' && index === 2) device.putUser({ ...user, lang: 'en' });
      else if (first_name === 'Erin' && index === 0) continue;
      else if (first_name === 'Temp' && index !== 1) continue;
      else device.putUser(user);
    }
  });
}

async function goToTable(program: PtyProgram): Promise<void> {
  await press(program, ['escape'], ': prompt');
}

async function press(
  program: PtyProgram,
  keys: readonly string[],
  wanted: string | RegExp,
): Promise<void> {
  for (const key of keys) program.press(key);
  await program.waitFor(wanted);
  await isStill(program);
}

/** Waits until the screen no longer changes. */
async function isStill(program: PtyProgram): Promise<void> {
  await program.waitFor((screen) => !/reading|connecting|asking/.test(screen.join('\n')));
}
