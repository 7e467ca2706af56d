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

type WrittenName = readonly [written: string, typed: string];

/** First and last names that occur together, and the interface language of these people. */
interface Culture {
  readonly lang: string;
  readonly first: readonly WrittenName[];
  readonly last: readonly WrittenName[];
}

/** `山田:yamada`: as written and as typed; Latin letters are typed as written, without accents. */
function writtenName(name: string): WrittenName {
  const [written = '', typed] = name.split(':');
  const letters = { ß: 'ss', ø: 'o', æ: 'ae', ł: 'l', Ł: 'l' };
  const plain = Object.entries(letters).reduce((text, pair) => text.replaceAll(...pair), written);
  return [written, typed ?? plain.normalize('NFD').replace(/[^a-zA-Z]/g, '')];
}

/** Accents, CJK and right-to-left: names that a table must measure correctly. */
const CULTURES: readonly Culture[] = [
  [
    'de: Jürgen Anke Björn Käthe Matthias Sören Ulrike Wolfgang',
    'Müller Weiß Schäfer Krüger Lange Vogel Groß Hübner',
  ],
  [
    'ja: さくら:sakura 健太:kenta 美咲:misaki 大輔:daisuke ひなた:hinata 翔:sho',
    '山田:yamada 佐藤:sato 鈴木:suzuki 渡辺:watanabe 小林:kobayashi 中村:nakamura',
  ],
  [
    'fr: Amélie François Chloé Gaël Hélène Loïc Noémie Théo',
    "Lefèvre Dupont L'Hôte Bérard Garçon Noël Moreau Fontaine",
  ],
  ['en: ליאור:lior סמיר:samir נועה:noa', 'כהן:cohen לוי:levi מזרחי:mizrahi'],
  [
    'en: Alice Bob Carol Dave Erin Niamh Owen Siân',
    "O'Brien Ardent Builder Whitaker Nguyễn Smith-Jones Hughes",
  ],
  [
    'es: Íñigo Begoña José Lucía Ángel Sofía Martín Ximena',
    'Muñoz García Peña Ibáñez Ordóñez Castro Núñez Vega',
  ],
  [
    'it: Niccolò Giulia Matteo Chiara Cosimo Bianca Elia Noè',
    "Esposito D'Angelo Ricci Fanfani Bellò Russo Cattanèo",
  ],
  ['fr: نور:nur ليلى:layla سامي:sami', 'حداد:haddad خوري:khoury نجار:najjar'],
  ['en: 伟:wei 芳:fang 晓明:xiaoming', '王:wang 欧阳:ouyang 李:li'],
  ['en: 지우:jiwoo 민준:minjun 서연:seoyeon', '김:kim 박:park 최:choi'],
  ['en: Łukasz Zoë Søren Žofie İpek', 'Wiśniewski Ångström Dvořák Kjærgård Şahin'],
].map(([first = '', last = '']) => ({
  lang: first.slice(0, 2),
  first: first.slice(4).split(' ').map(writtenName),
  last: last.split(' ').map(writtenName),
}));
