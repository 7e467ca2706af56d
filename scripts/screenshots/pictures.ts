import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Simulator } from '../../test/simulator/simulator.ts';
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
      await program.waitFor(/users · .*\d: \d+ same/);
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
      await press(program, ['e'], 'fields as the device reports them');
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
      await press(program, ['c'], /^▸ +bob/m);
    },
  },
  {
    name: 'details',
    title: 'enter: every field, and where it differs',
    stage: { ...SIZE, rows: 18, names: FIREWALLS, users: 2, prepare: addTeam },
    play: async ({ program }) => {
      await goToTable(program);
      await press(program, ['/'], 'filter');
      program.type('bob\r');
      await program.waitFor(/^▸.*bob/m);
      await press(program, ['enter'], '◂ odd');
    },
  },
  {
    name: 'pane',
    title: 'the details beside the table',
    stage: { columns: 130, rows: 22, names: FIREWALLS, users: 2, prepare: addTeam },
    play: async ({ program }) => {
      await goToTable(program);
      await press(program, ['down', 'down', 'down'], /│.*◂ odd/);
    },
  },
  {
    name: 'devices',
    title: 'D: the devices, those in trouble first',
    stage: { ...SIZE, rows: 22, names: ROUTERS, users: 2, prepare: refuseTwo },
    play: async ({ program }) => {
      await goToTable(program);
      await press(program, ['D'], /^▸.*edge-03/m);
    },
  },
  {
    name: 'marks',
    title: 'space: marked records, and how many devices they are on',
    stage: { ...SIZE, rows: 20, names: FIREWALLS, users: 2, prepare: addTeam },
    play: async ({ program }) => {
      await goToTable(program);
      await press(program, ['down', 'space', 'space', 'space', 'space'], '[3 marked');
    },
  },
  {
    name: 'bulk-form',
    title: 'e: change all marked records by one form',
    stage: { ...SIZE, rows: 20, names: FIREWALLS, users: 2, prepare: addTeam },
    play: async ({ program }) => {
      await goToTable(program);
      await press(program, ['down', 'space', 'space', 'space', 'space'], '[3 marked');
      await press(program, ['e'], '(mixed)');
      await press(program, ['tab', 'tab'], /▸ +Lang/);
      program.type('fr');
      await program.waitFor(/lang=fr/);
    },
  },
  {
    name: 'palette',
    title: 'ctrl-k: keys, commands, devices and users by words',
    stage: { ...SIZE, rows: 20, names: FIREWALLS, users: 2, prepare: addTeam },
    play: async ({ program }) => {
      await goToTable(program);
      await press(program, ['ctrl-k'], 'go to>');
      program.type('remove');
      await program.waitFor(/^.+command +user delete/m);
    },
  },
  {
    name: 'help',
    title: '?: the keys of the table, and what to type instead',
    stage: { ...SIZE, names: FIREWALLS, users: 2, prepare: addTeam },
    play: async ({ program }) => {
      await goToTable(program);
      await press(program, ['?'], 'In the table');
    },
  },
  {
    name: 'leaver',
    title: 'd: a leaver on twelve devices, two of which are down',
    stage: {
      ...SIZE,
      rows: 24,
      names: ROUTERS,
      users: 2,
      prepare: (simulator) => {
        addTeam(simulator);
        refuseTwo(simulator);
      },
    },
    play: async ({ program }) => {
      await goToTable(program);
      await press(program, ['/'], 'filter');
      program.type('alice\r');
      await program.waitFor(/^▸.*alice/m);
      await press(program, ['d'], 'answer>');
    },
  },
  {
    name: 'paused',
    title: 'p: a roll-out that waits before its next step',
    stage: { ...SIZE, rows: 20, names: ROUTERS, users: 2, prepare: addTeam },
    play: async ({ program, simulator }) => {
      program.type('user set alice lang=en\r');
      await program.waitFor('answer>');
      simulator.devices[3]?.setFault('silence');
      program.type('12\r');
      await program.waitFor(/3 of 12/);
      program.press('escape');
      await program.waitFor(/p pause/);
      await press(program, ['p'], 'PAUSED');
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

/** Two of the devices refuse the connection. */
function refuseTwo({ devices }: Simulator): void {
  for (const index of [2, 8]) devices[index]?.setFault('refuse');
}

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
  const busy = /\b(reading|connecting|asking|working)\b/;
  await program.waitFor((screen) => !busy.test(screen.join('\n')));
}
