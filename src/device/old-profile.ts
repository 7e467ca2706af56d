import { partsOf } from './json.ts';

type Facts = Readonly<Record<string, unknown>>;
/** What the group of an old fact states today; an undefined fact is taken out. */
type Today = (value: unknown, group: Facts) => Facts;
type Row = readonly [place: string, today: Today];

const gone: Today = () => ({});
const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const joined = (...parts: unknown[]): string => parts.map(text).filter(Boolean).join(' ');
const words = (word: string): Row => [
  `resources.*.${word === 'needed' ? 'fields' : word}`,
  (value) => ({
    fields: Array.isArray(value)
      ? Object.fromEntries(value.map((field) => [text(field), [word]]))
      : value,
  }),
];

/** Facts as older versions of devsh spelled them; `*` is any name. */
const ROWS: readonly Row[] = [
  ['accept', (value) => ({ headers: { Accept: value } })],
  ['fields', (value) => ({ public: partsOf(value)['public'] })],
  ['connections', gone],
  ['no_id', gone],
  ['auth.login.lifetime', gone],
  ['list', pagingOf],
  ['list.group_field', (value) => ({ items: `members:${text(value)}` })],
  ...['create', 'update', 'remove', 'resources.*.update'].map((write): Row => [
    `${write}.attributes`,
    (value, { wrapper }) => ({ wrapper: `${text(wrapper)}.${text(value)}` }),
  ]),
  // The media type of JSON bodies was one of each write.
  ...['create', 'update', 'remove'].map((write): Row => [write, (value) => typeOf(write, value)]),
  ['auth.login', loginOf],
  words('needed'),
  ['resources.*.field_facts', fieldWords],
  ...['volatile', 'bookkeeping', 'hidden', 'sent_back'].map(words),
  ['resources.*.rotate', rotationOf],
  ...['min', 'max', 'classes', 'forbidden', 'selector'].map((name): Row => [
    `resources.*.rotate.${name}`,
    gone,
  ]),
  ['revision.parameter', (value, { in: place }) => ({ in: `${text(place)}:${text(value)}` })],
];

function typeOf(write: string, value: unknown): Facts {
  if (!isGroup(value)) return { [write]: value };
  const { content_type: type, ...facts } = value;
  return { [write]: facts, ...(type !== undefined && { headers: { 'Content-Type': type } }) };
}

function pagingOf(list: unknown): Facts {
  if (!isGroup(list)) return { list };
  const { parameter, size_parameter: size, ...facts } = list;
  const paging = joined(facts['paging'], parameter, size);
  return { list: parameter === undefined ? facts : { ...facts, paging } };
}

function loginOf(login: unknown): Facts {
  if (!isGroup(login)) return { login };
  const { user_field, password_field, constants, cookie, logout, ...facts } = login;
  const { method, path } = partsOf(logout);
  const isOld = [user_field, password_field, constants].some((fact) => fact !== undefined);
  const [user, password] = [text(user_field) || 'username', text(password_field) || 'password'];
  const fields = { ...partsOf(constants), [user]: '{user}', [password]: '{password}' };
  return {
    login: {
      ...facts,
      ...(isOld && { fields }),
      ...(cookie !== undefined && {
        token_in: joined(facts['token_in'], `cookie:${text(cookie)}`),
      }),
      ...(logout !== undefined && { logout: path === undefined ? logout : joined(method, path) }),
    },
  };
}

function fieldWords(value: unknown): Facts {
  const fields = Object.entries(partsOf(value)).map(([field, facts]) => [
    field,
    Object.entries(partsOf(facts)).map(([name, one]) => {
      if (name === 'type') return one;
      return name === 'choices' ? { choices: one } : one === 'false' ? `not_${name}` : name;
    }),
  ]);
  return { fields: isGroup(value) ? (Object.fromEntries(fields) as Facts) : value };
}

function rotationOf(rotate: unknown): Facts {
  if (!isGroup(rotate)) return { rotate };
  const { field, repeat, old, method, ...facts } = rotate;
  const names = [
    [text(field) || 'password', '{new}'],
    [text(repeat), '{new}'],
    [text(old), '{old}'],
  ];
  const isOld = [field, repeat, old].some((fact) => fact !== undefined);
  return {
    rotate: {
      ...facts,
      ...(isOld && { fields: Object.fromEntries(names.filter(([name]) => name !== '')) as Facts }),
      ...(method !== undefined && { path: joined(method, facts['path']) }),
    },
  };
}

/** A profile of any version in the words of this one. `ignored` names the facts that have no effect any more. */
export function inTodaysWords(profile: Facts): {
  readonly facts: Facts;
  readonly ignored: readonly string[];
} {
  const ignored: string[] = [];
  const moved = (group: Facts, path: readonly string[], today: Today, at = ''): Facts => {
    const [name = '', ...below] = path;
    const own = name === '*' ? Object.keys(group) : Object.hasOwn(group, name) ? [name] : [];
    return own.reduce((facts, one) => {
      const { [one]: value, ...others } = facts;
      if (below.length > 0) {
        const inner = isGroup(value) ? moved(value, below, today, `${at}${one}.`) : value;
        return { ...facts, [one]: inner };
      }
      if (today === gone) ignored.push(`${at}${one}`);
      return merged(others, today(value, facts));
    }, group);
  };
  const facts = ROWS.reduce((all, [place, today]) => moved(all, place.split('.'), today), profile);
  return { facts, ignored };
}

/** Groups are merged, and the words of a field put together. */
function merged(first: Facts, more: Facts): Facts {
  const both = Object.entries({ ...first, ...more }).map(([name, value]) => {
    const known = first[name];
    if (!Object.hasOwn(more, name)) return [name, value];
    const isAdded = Array.isArray(value) && known !== undefined && !isGroup(known);
    if (isAdded) return [name, [known, value].flat()];
    return [name, isGroup(known) && isGroup(value) ? merged(known, value) : value];
  });
  return Object.fromEntries(both.filter(([, value]) => value !== undefined)) as Facts;
}

function isGroup(value: unknown): value is Facts {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
