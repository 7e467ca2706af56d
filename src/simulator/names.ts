/** A name as it is written and as it would be typed on any keyboard. */
export type WrittenName = readonly [written: string, typed: string];

/** First and last names that occur together, and the interface language such a person picks. */
export interface Culture {
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

/** Accents, CJK and right-to-left: what a table has to measure right. */
export const CULTURES: readonly [Culture, ...Culture[]] = [
  {
    lang: 'de',
    first: latin(['Jürgen', 'Anke', 'Björn', 'Käthe', 'Matthias', 'Sören', 'Ulrike', 'Wolfgang']),
    last: latin(['Müller', 'Weiß', 'Schäfer', 'Krüger', 'Lange', 'Vogel', 'Groß', 'Hübner']),
  },
  {
    lang: 'ja',
    first: [
      ['さくら', 'sakura'],
      ['健太', 'kenta'],
      ['美咲', 'misaki'],
      ['大輔', 'daisuke'],
      ['ひなた', 'hinata'],
      ['翔', 'sho'],
    ],
    last: [
      ['山田', 'yamada'],
      ['佐藤', 'sato'],
      ['鈴木', 'suzuki'],
      ['渡辺', 'watanabe'],
      ['小林', 'kobayashi'],
      ['中村', 'nakamura'],
    ],
  },
  {
    lang: 'fr',
    first: latin(['Amélie', 'François', 'Chloé', 'Gaël', 'Hélène', 'Loïc', 'Noémie', 'Théo']),
    last: latin(['Lefèvre', 'Dupont', "L'Hôte", 'Bérard', 'Garçon', 'Noël', 'Moreau', 'Fontaine']),
  },
  {
    lang: 'en',
    first: [
      ['ליאור', 'lior'],
      ['סמיר', 'samir'],
      ['נועה', 'noa'],
    ],
    last: [
      ['כהן', 'cohen'],
      ['לוי', 'levi'],
      ['מזרחי', 'mizrahi'],
    ],
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
    first: [
      ['نور', 'nur'],
      ['ليلى', 'layla'],
      ['سامي', 'sami'],
    ],
    last: [
      ['حداد', 'haddad'],
      ['خوري', 'khoury'],
      ['نجار', 'najjar'],
    ],
  },
  {
    lang: 'en',
    first: [
      ['伟', 'wei'],
      ['芳', 'fang'],
      ['晓明', 'xiaoming'],
    ],
    last: [
      ['王', 'wang'],
      ['欧阳', 'ouyang'],
      ['李', 'li'],
    ],
  },
  {
    lang: 'en',
    first: [
      ['지우', 'jiwoo'],
      ['민준', 'minjun'],
      ['서연', 'seoyeon'],
    ],
    last: [
      ['김', 'kim'],
      ['박', 'park'],
      ['최', 'choi'],
    ],
  },
  {
    lang: 'en',
    first: latin(['Łukasz', 'Zoë', 'Søren', 'Žofie', 'İpek']),
    last: latin(['Wiśniewski', 'Ångström', 'Dvořák', 'Kjærgård', 'Şahin']),
  },
];
