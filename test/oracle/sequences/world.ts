import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Account, Box, type Deed, openPlace, type Place } from './box.ts';
import { type Devsh, makeDevsh, trust } from '../../main/devsh.ts';
import { type Event, type Line, NAMES, type Sequence } from './events.ts';
import { Truth } from './truth.ts';

/** The parts of the JSON of a line that make claims. */
export interface Said {
  readonly run?: string;
  readonly results?: readonly {
    readonly device: string;
    readonly key: string;
    readonly action: string;
    readonly verdict: string;
    readonly error?: { readonly code: string };
  }[];
  readonly pending?: readonly {
    readonly id: string;
    readonly device: string;
    readonly change: string;
  }[];
  readonly changes?: readonly {
    readonly device: string;
    /** Null for a change of a whole list. */
    readonly key: string | null;
    readonly kind: string;
    readonly author: string | null;
  }[];
}

const PEOPLE = ['ann', 'bob', 'cyd'];

function accountsOf(first: number): Account[] {
  return PEOPLE.map((person, index) => ({
    person,
    id: String(first + index),
    fields: {
      ...{ username: person, email: `${person}@example.net`, first_name: person },
      ...{ last_name: 'Ng', lang: index === 0 ? 'de' : 'en', is_active: true },
    },
  }));
}

const RealDate = Date;

/** The clock of the machine, some minutes off; undefined: right again. */
function stepClock(minutes: number | undefined): void {
  if (minutes === undefined) {
    globalThis.Date = RealDate;
    return;
  }
  const off = minutes * 60_000;
  globalThis.Date = class extends RealDate {
    constructor(...given: readonly unknown[]) {
      if (given.length === 0) super(RealDate.now() + off);
      else super(...(given as [number]));
    }

    static override now(): number {
      return RealDate.now() + off;
    }
  } as DateConstructor;
}

/** What devsh said or did wrong, up to the first event with a fault; and how often older intents had to ask. */
export interface Played {
  readonly faults: readonly string[];
  readonly olderIntents: number;
  readonly questions: number;
}

export async function played(given: Sequence): Promise<Played> {
  const world = await openWorld(given);
  const { asked } = world;
  try {
    for (const [index, event] of given.events.entries()) {
      const faults = await world.play(event, index);
      if (faults.length > 0) return { ...asked, faults: [...faults, ...world.told] };
    }
    return { ...asked, faults: [] };
  } finally {
    await world.close();
  }
}

async function openWorld(given: Sequence): Promise<World> {
  const deeds: Deed[] = [];
  const boxes = NAMES.slice(0, given.count).map(
    (name, index) =>
      new Box(name, accountsOf(given.areIdsAlike ? 1 : index * 10 + 1), given.ids, deeds),
  );
  const places = await Promise.all(boxes.map(openPlace));
  const cleanUps: (() => Promise<void>)[] = [];
  const env = { DEVSH_USER: 'root', DEVSH_PASSWORD: 'swordfish-1' };
  const devsh = await makeDevsh(env, (cleanUp) => cleanUps.push(cleanUp));
  const world = new World({ devsh, deeds, places, given, cleanUps });
  await world.writeFiles();
  return world;
}

class World {
  readonly #devsh: Devsh & { readonly folder: string };
  readonly #deeds: Deed[];
  /** The inventory: the place of each name. */
  readonly #places: Place[];
  readonly #given: Sequence;
  readonly #cleanUps: readonly (() => Promise<void>)[];
  readonly #truth: Truth;
  #minutes = 0;
  readonly #runs: string[] = [];
  readonly asked = { olderIntents: 0, questions: 0 };
  /** What was typed and said, for the report of a fault. */
  readonly told: string[] = [];

  constructor({
    devsh,
    deeds,
    places,
    given,
    cleanUps,
  }: {
    readonly devsh: Devsh & { readonly folder: string };
    readonly deeds: Deed[];
    readonly places: Place[];
    readonly given: Sequence;
    readonly cleanUps: readonly (() => Promise<void>)[];
  }) {
    this.#devsh = devsh;
    this.#deeds = deeds;
    this.#places = places;
    this.#given = given;
    this.#cleanUps = cleanUps;
    this.#truth = new Truth(places.map(({ box }) => box));
  }

  async writeFiles(): Promise<void> {
    const { folder } = this.#devsh;
    const config = join(folder, 'config/devsh');
    await mkdir(join(config, 'profiles'), { recursive: true });
    const entries = this.#places.map(
      ({ address }, index) =>
        `  - {name: ${NAMES[index] ?? ''}, address: "${address}", groups: [lab], profile: box}\n`,
    );
    await writeFile(join(config, 'devices.yaml'), `devices:\n${entries.join('')}`);
    await writeFile(join(config, 'profiles/box.yaml'), 'extends: drf\nid_fields: [id]\n');
    const pins = this.#places.map(({ address, box }) => ({
      address,
      fingerprint: box.certificate.fingerprint,
    }));
    await trust(this.#devsh, pins);
  }

  async play(event: Event, index: number): Promise<readonly string[]> {
    for (const { box } of this.#places) box.line = index;
    if (event.kind === 'line') return this.#type(event.line);
    if (event.kind === 'clock') {
      this.told.push(`  clock: ${event.minutes} minutes`);
      this.#minutes += event.minutes;
      stepClock(this.#minutes);
      return [];
    }
    const place = this.#places[event.box % this.#given.count];
    if (place === undefined) return [];
    const { box } = place;
    this.told.push(`  ${box.name}: ${JSON.stringify(event)}`);
    switch (event.kind) {
      case 'down':
        box.isDown = true;
        break;
      case 'up':
        box.isDown = false;
        break;
      case 'list':
        await this.#run(['user', 'list', '--on', NAMES[event.box % this.#given.count] ?? '']);
        this.#truth.saw(box);
        break;
      case 'fate':
        box.fate = event.fate;
        break;
      case 'rename':
        box.change(event.key, { username: event.to });
        break;
      case 'edit':
        box.change(event.key, { lang: 'es' });
        break;
      case 'recreate':
        box.remove(event.key);
        box.addStranger(event.key);
        break;
      case 'second':
        box.addStranger(event.key);
        break;
      case 'swap': {
        const other = this.#places[event.other % this.#given.count];
        if (other === undefined || other === place) break;
        const [from, to] = [this.#places.indexOf(place), this.#places.indexOf(other)];
        this.#places[from] = other;
        this.#places[to] = place;
        this.#truth.moved();
        await this.writeFiles();
        break;
      }
      case 'replace': {
        // Another box with the same people, and other ids.
        const accounts = box.accounts.map((one) => ({ ...one, id: String(Number(one.id) + 50) }));
        const name = `${box.name}-new`;
        place.box = new Box(name, accounts, this.#given.ids, this.#deeds);
        this.#truth.know(place.box);
        await this.writeFiles();
        break;
      }
    }
    return [];
  }

  async #type(line: Line): Promise<readonly string[]> {
    const boxes = new Map(this.#places.map(({ box }, index) => [NAMES[index] ?? '', box]));
    const names = 'on' in line ? this.#named(line.on) : [...boxes.keys()];
    this.#truth.begin(line, boxes, names);
    const { startedAt } = this.#truth;
    const { count } = this.#given;
    const said = await this.#run(wordsOf(line, { names, startedAt, runs: this.#runs, count }));
    if (/^(?:undo|resume|restore)/.test(line.kind)) {
      const codes = said.results?.map(({ error }) => error?.code) ?? [];
      this.asked.olderIntents += codes.length;
      this.asked.questions += codes.filter((code) => code === 'doubt').length;
    }
    if (said.run !== undefined && this.#runs.at(-1) !== said.run) this.#runs.push(said.run);
    const owed = await this.#run(['pending']);
    const changes = await this.#run(['changes', '--since', '2d', '--on', '@lab']);
    return this.#truth.judge(said, owed, changes);
  }

  #named(on: readonly number[]): string[] {
    return [...new Set(on.map((one) => NAMES[one % this.#given.count] ?? ''))];
  }

  async #run(words: readonly string[]): Promise<Said> {
    const { stdout, stderr, exitCode } = await this.#devsh([...words, '--json']);
    const isRead = words[0] === 'pending' && words.length === 1;
    if (!isRead && words[0] !== 'changes') {
      this.told.push(`> ${words.join(' ')} [${exitCode}]`, stdout.trim(), stderr.trim());
    }
    return JSON.parse(stdout === '' ? '{}' : stdout) as Said;
  }

  async close(): Promise<void> {
    stepClock(undefined);
    for (const place of this.#places) place.close();
    for (const cleanUp of this.#cleanUps) await cleanUp();
  }
}

/** What a line needs beside its own words. */
interface Typing {
  readonly names: readonly string[];
  readonly startedAt: string;
  /** The ids of the runs so far. */
  readonly runs: readonly string[];
  readonly count: number;
}

function wordsOf(line: Line, { names, startedAt, runs, count }: Typing): readonly string[] {
  const on = ['--on', names.join(','), '--timeout', '2', '--yes'];
  switch (line.kind) {
    case 'add':
      return ['user', 'add', `username=${line.key}`, `email=${line.key}@example.net`, ...on];
    case 'set':
      return ['user', 'set', line.key, ...pairs(line.fields), ...on];
    case 'set where':
      return ['user', 'set', '--where', `lang=${line.lang}`, 'last_name=Where', ...on];
    case 'delete':
      return ['user', 'delete', line.key, ...on];
    case 'lockout':
      return ['lockout', line.key, '--now', '--yes'];
    case 'undo':
      return ['undo', '--yes', '--allow', 'loss'];
    case 'new name':
      return ['user', 'set', line.key, `username=${line.to}`, ...on];
    case 'undo RUN':
      return ['undo', runs.at(-1 - line.run) ?? '', '--yes', '--allow', 'loss'];
    case 'resume RUN':
      return ['resume', runs.at(-1 - line.run) ?? '', '--yes'];
    case 'resume --also': {
      const device = NAMES[line.box % count] ?? '';
      return ['resume', '--yes', '--also', `${device}=${line.key}`];
    }
    case 'resume':
      return ['resume', '--yes'];
    case 'restore':
      return ['user', 'restore', line.key, '--at', startedAt, ...on];
  }
}

function pairs(fields: Readonly<Record<string, string>>): string[] {
  return Object.entries(fields).map(([field, value]) => `${field}=${value}`);
}
