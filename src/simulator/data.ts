import { createRandom, type Random } from './random.ts';
import { LANGUAGES, type User } from './store.ts';

/** The initial users of a device, the two accounts first. */
export interface DeviceData {
  readonly users: readonly User[];
  readonly tokens: { readonly admin: string; readonly viewer: string };
}

/** How many people of the fleet share a username; a number is appended to tell them apart. */
type UsernameCounts = Map<string, number>;

type Person = Omit<User, 'uuid'>;

const ACCOUNTS: readonly Person[] = [
  { first_name: 'Ada', lastname: 'Operator', username: 'admin', lang: 'en' },
  { first_name: 'Vic', lastname: 'Reader', username: 'viewer', lang: 'en' },
];

const EMOJI = ['🦊', '👩‍💻', '🚒', '🇨🇭'] as const;

/** Distinct people; the first ones cover all cultures, so that a short list shows each. */
function people(random: Random, count: number, taken: UsernameCounts): Person[] {
  return Array.from({ length: count }, (_, index) => {
    const culture = CULTURES[index] ?? random.pick(CULTURES);
    const hasEmoji = index === 4 || random.below(25) === 0;
    return person(random, culture, { hasEmoji, taken });
  });
}

function person(
  random: Random,
  culture: Culture,
  { hasEmoji, taken }: { hasEmoji: boolean; taken: UsernameCounts },
): Person {
  const [first, firstTyped] = random.pick(culture.first);
  const [last, lastTyped] = random.pick(culture.last);
  // Django allows letters of any script in a username.
  const isNative = /^\p{L}+$/u.test((first + last).toLowerCase()) && random.below(10) === 0;
  const typed = isNative ? `${first}.${last}` : `${firstTyped}.${lastTyped}`;
  const base = typed.toLowerCase();
  const namesakes = (taken.get(base) ?? 0) + 1;
  taken.set(base, namesakes);
  return {
    first_name: hasEmoji ? `${first} ${random.pick(EMOJI)}` : first,
    lastname: last,
    username: namesakes === 1 ? base : `${base}${namesakes}`,
    lang: culture.lang,
  };
}

/** The same person with one field changed, like after a manual edit on one device. */
function drifted(person: Person, random: Random): Person {
  switch (random.below(3)) {
    case 0:
      return { ...person, first_name: `${person.first_name} Maria` };
    case 1:
      return { ...person, lastname: `${person.lastname}-Ardent` };
    default: {
      const position = LANGUAGES.findIndex((lang) => lang === person.lang);
      return { ...person, lang: LANGUAGES[(position + 1) % LANGUAGES.length] ?? 'en' };
    }
  }
}

/** Returns a function that creates the data of a device. Call it in order, from 0. */
export function createFleetData(
  seed: number,
  devices: number,
  usersPerDevice: number,
): (device: number) => DeviceData {
  const count = Math.max(0, usersPerDevice - ACCOUNTS.length);
  const sharedCount = Math.ceil(count / 2);
  const driftingCount = Math.ceil((count - sharedCount) / 3);
  const taken: UsernameCounts = new Map();
  const common = people(createRandom(`${seed}:fleet`), sharedCount + driftingCount, taken);
  const shared = common.slice(0, sharedCount);
  const drifting = common.slice(sharedCount);
  return (device) => {
    const random = createRandom(`${seed}:device:${device}`);
    const here = drifting.map((person, index) => {
      // One device in ten drifts; in a smaller fleet one of all.
      const isOdd = device % 10 === (index + 1) % Math.min(devices, 10);
      return isOdd ? drifted(person, createRandom(`${seed}:drift:${index}`)) : person;
    });
    const own = people(random, count - common.length, taken);
    const others = random.shuffle([...shared, ...here, ...own]);
    return {
      users: [...ACCOUNTS, ...others].map((person) => ({ uuid: random.uuid(), ...person })),
      tokens: { admin: random.hex(40), viewer: random.hex(40) },
    };
  };
}

/** A name as written, and as typed on any keyboard. */
type WrittenName = readonly [written: string, typed: string];

/** First and last names that occur together, and the interface language of these people. */
interface Culture {
  readonly lang: string;
  readonly first: readonly [WrittenName, ...WrittenName[]];
  readonly last: readonly [WrittenName, ...WrittenName[]];
}

/** Latin letters: typed as written, without accents. */
function latin([first, ...rest]: readonly [string, ...string[]]): [WrittenName, ...WrittenName[]] {
  const named = (name: string): WrittenName => [
    name,
    name
      .replaceAll('ß', 'ss')
      .replaceAll('ø', 'o')
      .replaceAll('æ', 'ae')
      .replaceAll(/[łŁ]/g, 'l')
      .normalize('NFD')
      .replace(/[^a-zA-Z]/g, ''),
  ];
  return [named(first), ...rest.map(named)];
}

/** Other scripts: each name as written and as typed, `山田 yamada, 佐藤 sato`. */
function foreign(names: string): [WrittenName, ...WrittenName[]] {
  const [first = '', ...rest] = names.split(', ');
  const named = (pair: string): WrittenName => {
    const [written = '', typed = ''] = pair.split(' ');
    return [written, typed];
  };
  return [named(first), ...rest.map(named)];
}

/** Accents, CJK and right-to-left: names that a table must measure correctly. */
const CULTURES: readonly [Culture, ...Culture[]] = [
  {
    lang: 'de',
    first: latin(['Jürgen', 'Anke', 'Björn', 'Käthe', 'Matthias', 'Sören', 'Ulrike', 'Wolfgang']),
    last: latin(['Müller', 'Weiß', 'Schäfer', 'Krüger', 'Lange', 'Vogel', 'Groß', 'Hübner']),
  },
  {
    lang: 'ja',
    first: foreign('さくら sakura, 健太 kenta, 美咲 misaki, 大輔 daisuke, ひなた hinata, 翔 sho'),
    last: foreign(
      '山田 yamada, 佐藤 sato, 鈴木 suzuki, 渡辺 watanabe, 小林 kobayashi, 中村 nakamura',
    ),
  },
  {
    lang: 'fr',
    first: latin(['Amélie', 'François', 'Chloé', 'Gaël', 'Hélène', 'Loïc', 'Noémie', 'Théo']),
    last: latin(['Lefèvre', 'Dupont', "L'Hôte", 'Bérard', 'Garçon', 'Noël', 'Moreau', 'Fontaine']),
  },
  {
    lang: 'en',
    first: foreign('ליאור lior, סמיר samir, נועה noa'),
    last: foreign('כהן cohen, לוי levi, מזרחי mizrahi'),
  },
  {
    lang: 'en',
    first: latin(['Alice', 'Bob', 'Carol', 'Dave', 'Erin', 'Niamh', 'Owen', 'Siân']),
    last: latin(["O'Brien", 'Ardent', 'Builder', 'Whitaker', 'Nguyễn', 'Smith-Jones', 'Hughes']),
  },
  {
    lang: 'es',
    first: latin(['Íñigo', 'Begoña', 'José', 'Lucía', 'Ángel', 'Sofía', 'Martín', 'Ximena']),
    last: latin(['Muñoz', 'García', 'Peña', 'Ibáñez', 'Ordóñez', 'Castro', 'Núñez', 'Vega']),
  },
  {
    lang: 'it',
    first: latin(['Niccolò', 'Giulia', 'Matteo', 'Chiara', 'Cosimo', 'Bianca', 'Elia', 'Noè']),
    last: latin(['Esposito', "D'Angelo", 'Ricci', 'Fanfani', 'Bellò', 'Russo', 'Cattanèo']),
  },
  {
    lang: 'fr',
    first: foreign('نور nur, ليلى layla, سامي sami'),
    last: foreign('حداد haddad, خوري khoury, نجار najjar'),
  },
  {
    lang: 'en',
    first: foreign('伟 wei, 芳 fang, 晓明 xiaoming'),
    last: foreign('王 wang, 欧阳 ouyang, 李 li'),
  },
  {
    lang: 'en',
    first: foreign('지우 jiwoo, 민준 minjun, 서연 seoyeon'),
    last: foreign('김 kim, 박 park, 최 choi'),
  },
  {
    lang: 'en',
    first: latin(['Łukasz', 'Zoë', 'Søren', 'Žofie', 'İpek']),
    last: latin(['Wiśniewski', 'Ångström', 'Dvořák', 'Kjærgård', 'Şahin']),
  },
];
