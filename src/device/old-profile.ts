import { partsOf } from './json.ts';

type Facts = Readonly<Record<string, unknown>>;
/** What the group of an old fact states today; undefined: as it is, for the schema to refuse. */
type Today = (value: unknown, group: Facts) => Facts | undefined;
type Row = readonly [place: string, today: Today];

const gone: Today = () => ({});
const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const joined = (...parts: unknown[]): string => parts.map(text).filter(Boolean).join(' ');
const group = (place: string, today: (value: Facts) => Facts): Row => [
  place,
  (value) => (isGroup(value) ? today(value) : undefined),
];
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
  group('list', pagingOf),
  ['list.group_field', (value) => ({ items: `members:${text(value)}` })],
  ...['create', 'update', 'remove', 'resources.*.update'].map((write): Row => [
    `${write}.attributes`,
    (value, { wrapper }) => ({ wrapper: `${text(wrapper)}.${text(value)}` }),
  ]),
  // The media type of JSON bodies was one of each write.
  ...['create', 'update', 'remove'].map((write) => group(write, (facts) => typeOf(write, facts))),
  group('auth.login', loginOf),
  words('needed'),
  group('resources.*.field_facts', fieldWords),
  ...['volatile', 'bookkeeping', 'hidden', 'sent_back'].map(words),
  group('resources.*.rotate', rotationOf),
  ...['min', 'max', 'classes', 'forbidden', 'selector'].map((name): Row => [
    `resources.*.rotate.${name}`,
    gone,
  ]),
  ['revision.parameter', (value, { in: place }) => ({ in: `${text(place)}:${text(value)}` })],
];

function typeOf(write: string, { content_type: type, ...facts }: Facts): Facts {
  return { [write]: facts, ...(type !== undefined && { headers: { 'Content-Type': type } }) };
}

function pagingOf({ parameter, size_parameter: size, ...facts }: Facts): Facts {
  const paging = joined(facts['paging'], parameter, size);
  return { list: parameter === undefined ? facts : { ...facts, paging } };
}

function loginOf(login: Facts): Facts {
  const { user_field, password_field, constants, cookie, logout, ...facts } = login;
  const { method, path } = partsOf(logout);
  const isOld = [user_field, password_field, constants].some((fact) => fact !== undefined);
  const [user, password] = [text(user_field) || 'username', text(password_field) || 'password'];
  const fields = { ...partsOf(constants), [user]: '{user}', [password]: '{password}' };
  const place = joined(facts['token_in'], `cookie:${text(cookie)}`);
  const end = path === undefined ? logout : joined(method, path);
  return {
    login: {
      ...facts,
      ...(isOld && { fields }),
      ...(cookie !== undefined && { token_in: place }),
      ...(logout !== undefined && { logout: end }),
    },
  };
}

function fieldWords(value: Facts): Facts {
  const fields = Object.entries(value).map(([field, facts]) => [
    field,
    Object.entries(partsOf(facts)).map(([name, one]) => {
      if (name === 'type') return one;
      return name === 'choices' ? { choices: one } : one === 'false' ? `not_${name}` : name;
    }),
  ]);
  return { fields: Object.fromEntries(fields) as Facts };
}

function rotationOf({ field, repeat, old, method, ...facts }: Facts): Facts {
  const isOld = [field, repeat, old].some((fact) => fact !== undefined);
  const fields = {
    [text(field) || 'password']: '{new}',
    ...(repeat !== undefined && { [text(repeat)]: '{new}' }),
    ...(old !== undefined && { [text(old)]: '{old}' }),
  };
  const path = joined(method, facts['path']);
  return { rotate: { ...facts, ...(isOld && { fields }), ...(method !== undefined && { path }) } };
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
      const now = today(value, facts);
      return now === undefined ? facts : merged(others, now);
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
