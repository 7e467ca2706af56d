import { type Account, Box, type Deed, openPlace, type Place } from './box.ts';
import type { Begin, Said, Told } from './claims.ts';
import { type Event, type Line, type Meanwhile, NAMES, type Sequence } from './events.ts';
import { type Ending, Machine, watchJournals } from './machine.ts';
import { Truth } from './truth.ts';
import { runAt, typed } from './words.ts';

const PEOPLE = ['ann', 'bob', 'cyd'].map((person, index): Omit<Account, 'id'> => ({
  ...{ person, secrets: {} },
  fields: {
    ...{ username: person, email: `${person}@example.net`, first_name: person },
    ...{ last_name: 'Ng', lang: index === 0 ? 'de' : 'en', is_active: true },
  },
}));

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
    for (const event of given.events) {
      const faults = await world.play(event);
      if (faults.length > 0) return { ...asked, faults: [...faults, ...world.told] };
    }
    const faults = await world.falseReport();
    return { ...asked, faults: faults.length > 0 ? [...faults, ...world.told] : [] };
  } finally {
    await world.close();
  }
}

async function openWorld(given: Sequence): Promise<World> {
  const deeds: Deed[] = [];
  const { count, ids, areIdsAlike, habits = [] } = given;
  const boxes = NAMES.slice(0, count).map((name, index) => {
    const first = areIdsAlike ? 1 : index * 100 + 1;
    return new Box(name, PEOPLE, { ids, deeds, first, habit: habits[index] });
  });
  const [one, other] = boxes;
  if (given.areTwins === true && one !== undefined && other !== undefined) {
    one.joinedBy(other);
  }
  const world = new World(given, deeds);
  await world.open(boxes);
  return world;
}

/** A line under way. */
interface UnderWay {
  readonly machine: Machine;
  readonly begin: Begin;
  readonly ending: Promise<Ending>;
}

class World {
  readonly #given: Sequence;
  readonly #deeds: Deed[];
  /** The inventory: the place of each name. */
  #places: Place[] = [];
  #names: readonly string[] = NAMES;
  #machines: Machine[] = [];
  readonly #cleanUps: (() => Promise<void>)[] = [];
  readonly #leaveJournals = watchJournals();
  #minutes = 0;
  #requests = 0;
  #meanwhile: Meanwhile | undefined;
  #second: Promise<UnderWay | undefined> | undefined;
  #passwords = 0;
  /** The newest plan file, and the line that made it. */
  #plan: { readonly file: string; readonly begin: Begin } | undefined;
  readonly asked = { olderIntents: 0, questions: 0 };
  /** What was typed and said, for the report of a fault. */
  readonly told: string[] = [];

  constructor(given: Sequence, deeds: Deed[]) {
    this.#given = given;
    this.#deeds = deeds;
  }

  async open(boxes: readonly Box[]): Promise<void> {
    const watch = (isWrite: boolean) => this.#watch(isWrite);
    this.#places = await Promise.all(boxes.map((box) => openPlace(box, watch)));
    this.#machines = await Promise.all(
      (['home', 'away'] as const).map((name) =>
        Machine.open(name, new Truth(name, boxes), this.#cleanUps),
      ),
    );
    await this.#know();
    for (const machine of this.#given.isRead ? this.#machines : []) {
      await machine.run(['user', 'list', '--on', '@lab']);
      machine.truth.hasRead(boxes);
    }
  }

  async #know(): Promise<void> {
    await Promise.all(this.#machines.map((machine) => machine.know(this.#places, this.#names)));
  }

  /** Before each request: what happens meanwhile, and whether a process ends at it. */
  #watch(isWrite: boolean) {
    if (this.#meanwhile?.nth === this.#requests++) {
      const { event } = this.#meanwhile;
      if (event.kind === 'line') this.#second = this.#start(event);
      else if (event.kind !== 'list') this.#happen(event);
    }
    const ends = isWrite ? this.#machines.map((machine) => machine.stopsAtWrite()) : [];
    const end = ends.find((one) => one !== undefined);
    return { isCarriedOut: end !== 'before', isAnswered: end === undefined };
  }

  async play(event: Event): Promise<readonly string[]> {
    if (event.kind === 'line') return this.#type(event);
    if (event.kind === 'list') {
      const name = this.#names[event.box % this.#given.count] ?? '';
      const { box } = this.#places[event.box % this.#given.count] ?? {};
      const [home] = this.#machines;
      await home?.run(['user', 'list', '--on', name]);
      if (box !== undefined) home?.truth.saw(box);
      return [];
    }
    this.#happen(event);
    if (['swap', 'replace', 'rename device'].includes(event.kind)) await this.#know();
    return [];
  }

  #happen(event: Exclude<Event, { kind: 'line' | 'list' }>): void {
    this.told.push(`  ${JSON.stringify(event)}`);
    const place = this.#places[(event.box ?? 0) % this.#given.count];
    if (place === undefined) return;
    const { box } = place;
    switch (event.kind) {
      case 'clock':
        if (event.box === undefined) stepClock((this.#minutes += event.minutes));
        else box.minutes += event.minutes;
        break;
      case 'down':
      case 'up':
        box.isDown = event.kind === 'down';
        break;
      case 'list':
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
      case 'rename device': {
        const index = this.#places.indexOf(place);
        const rename = (name: string): string => (name.endsWith('-2') ? name : `${name}-2`);
        this.#names = this.#names.map((name, at) => (at === index ? rename(name) : name));
        break;
      }
      case 'swap': {
        const other = this.#places[event.other % this.#given.count];
        if (other === undefined || other === place) break;
        const swapped = new Map([
          [place, other],
          [other, place],
        ]);
        this.#places = this.#places.map((one) => swapped.get(one) ?? one);
        for (const { truth } of this.#machines) truth.moved();
        break;
      }
      case 'replace': {
        // Another box with the same people, and other ids.
        const made = { ids: this.#given.ids, first: box.highest + 50, deeds: this.#deeds };
        place.box = new Box(`${box.name}-new`, box.accounts, made);
        for (const { truth } of this.#machines) truth.know(place.box);
        break;
      }
    }
  }

  async #type(event: Event & { readonly kind: 'line' }): Promise<readonly string[]> {
    this.#requests = 0;
    this.#meanwhile = event.meanwhile;
    this.#second = undefined;
    const first = await this.#start(event);
    const ended = first && (await this.#end(first));
    this.#meanwhile = undefined;
    const second = await (this.#second as Promise<UnderWay | undefined> | undefined);
    const other = second && (await this.#end(second));
    const all = [ended, other].flatMap((one) => one ?? []);
    const faults: string[] = [];
    for (const machine of this.#machines) {
      const own = all.filter((one) => one.machine === machine).map(({ told }) => told);
      if (own.length === 0) continue;
      const pending = saidIn(await machine.run(['pending']));
      const changes = saidIn(await machine.run(['changes', '--since', '2d', '--on', '@lab']));
      faults.push(...machine.truth.judge(own, pending, changes));
    }
    return faults;
  }

  async #start({
    line,
    isAway = false,
    stop,
  }: Event & { readonly kind: 'line' }): Promise<UnderWay | undefined> {
    const machine = this.#machines[isAway ? 1 : 0];
    if (machine === undefined) return undefined;
    const boxes = new Map(this.#places.map(({ box }, index) => [this.#names[index] ?? '', box]));
    const names = 'on' in line ? this.#named(line.on) : [...boxes.keys()];
    const named = 'spelling' in line ? [...boxes.values()][line.box % boxes.size] : undefined;
    const id = named?.named('key' in line ? line.key : '')[0]?.id;
    const secret = `Fresh-Harbour-${4000 + this.#passwords++}`;
    const file = line.kind === 'plan' ? machine.newFile() : this.#plan?.file;
    const typing = { machine, boxes, names, id, secret, plan: file };
    const run = 'run' in line ? runAt(machine, line.run) : undefined;
    const words = await typed(line, typing);
    if (words === undefined || run === '') return undefined;
    const plan = this.#plan?.begin;
    const at = new Map(this.#places.map(({ address, box }) => [address, box]));
    const begin = machine.truth.begin({ line, boxes, at, names, id, secret, run, plan });
    if (line.kind === 'plan' && file !== undefined) this.#plan = { file, begin };
    return { machine, begin, ending: machine.write(words.words, words.stdin, stop) };
  }

  async #end({ machine, begin, ending }: UnderWay) {
    const ended = await ending;
    const said = ended && saidIn(ended);
    const { line } = begin;
    this.told.push(
      `> ${machine.name}: ${JSON.stringify(line)} [${ended?.exitCode ?? 'stopped'}]`,
      ...[ended?.stdout, ended?.stderr].map((text = '') => text.trim()),
    );
    this.#count(line, said);
    const newest =
      said === undefined ? saidIn(await machine.run(['runs'])).runs?.[0]?.run : said.run;
    const isKnown = newest === undefined || machine.runs.includes(newest);
    if (!isKnown && line.kind !== 'plan') machine.runs.push(newest);
    const ran = isKnown && said === undefined ? undefined : newest;
    const isDisturbed = this.#second !== undefined || this.#isDisturbed(begin);
    return { machine, told: { ...begin, said, ran, isDisturbed } satisfies Told };
  }

  /** Whether others have changed anything, or a box went away, since a line began. */
  #isDisturbed({ deeds, down, boxes }: Begin): boolean {
    const isMoved = [...boxes.values()].some((box) => box.isDown !== down.has(box));
    const byOthers = this.#deeds.slice(deeds).some(({ by }) => by === 'other');
    return this.#meanwhile !== undefined && (isMoved || byOthers);
  }

  #count({ kind }: Line, said: Said | undefined): void {
    if (!/^(?:undo|resume|restore)/.test(kind)) return;
    const codes = said?.results?.map(({ error }) => error?.code) ?? [];
    this.asked.olderIntents += codes.length;
    this.asked.questions += codes.filter((code) => code === 'doubt').length;
  }

  #named(on: readonly number[]): string[] {
    return [...new Set(on.map((one) => this.#names[one % this.#given.count] ?? ''))];
  }

  /** What the record of the whole time says wrongly. */
  async falseReport(): Promise<readonly string[]> {
    const [home] = this.#machines;
    if (home === undefined) return [];
    const { report } = saidIn(await home.run(['report', '--since', '2d']));
    const boxes = new Map(this.#places.map(({ box }, index) => [this.#names[index] ?? '', box]));
    return home.truth.falseAuthors({ boxes }, report?.changes);
  }

  async close(): Promise<void> {
    stepClock(undefined);
    this.#leaveJournals();
    for (const place of this.#places) place.close();
    for (const cleanUp of this.#cleanUps) await cleanUp();
  }
}

function saidIn({ stdout }: { readonly stdout: string }): Said {
  return JSON.parse(stdout === '' ? '{}' : stdout) as Said;
}
