import { setTimeout as sleep } from 'node:timers/promises';
import { Watch } from '../../change/observe.ts';
import {
  type FieldDetails,
  keyFieldOf,
  type Origin,
  type Profile,
  type ResourceProfile,
  type WriteFacts,
  WRITES,
} from '../../device/profile.ts';
import { type DeviceRecord, isValueObject, type Value, valueText } from '../../device/record.ts';
import { maskedValue } from '../../device/sensitive-fields.ts';
import { DevshError } from '../../errors.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import type { Since } from '../../settings/profile-files.ts';
import { someOf } from '../../text/one-line.ts';
import { inCode, inYaml } from '../../text/yaml-names.ts';
import { profileOf } from '../access/access.ts';
import { fieldsOf } from '../arguments.ts';
import type { Call } from '../command.ts';
import type { DeviceOption } from '../grammar/options.ts';
import { type Output, success, table } from '../output.ts';
import { confirm } from '../session.ts';

/** Learns facts of a resource from all devices that responded. Errors are ignored: a fact is missing then. */
export async function learnAllQuietly(
  call: Call,
  sessions: readonly DeviceSession[],
  resource: string,
): Promise<void> {
  const ready = sessions.filter(({ state }) => state.kind === 'ready');
  const results = await Promise.allSettled(
    ready.map((session) => session.learn(call.access, resource, 'once', call.io.signal)),
  );
  for (const result of results) {
    if (result.status === 'rejected' && !(result.reason instanceof DevshError)) throw result.reason;
  }
}

/** The facts that a device described, in words. */
export function learnedTexts({ offers, answers, resources }: Profile, resource: string): string[] {
  const { withSlash, withoutSlash, withoutAccept } = answers ?? {};
  const known: Partial<ResourceProfile> = resources[resource] ?? {};
  return [
    offers && `resources ${offers.join(', ')}`,
    known.collectionAllows && `the list allows ${known.collectionAllows.join(', ')}`,
    known.itemAllows && `a record allows ${known.itemAllows.join(', ')}`,
    known.details && `${Object.keys(known.details).length} fields described`,
    known.parses && `takes ${known.parses.join(', ')}`,
    known.envelope && `records in: ${known.envelope}`,
    known.paging && `pages ${known.paging}`,
    known.summary === true ? 'the list lacks fields' : undefined,
    withSlash && `with a trailing slash: ${withSlash}`,
    withoutSlash && `without: ${withoutSlash}`,
    withoutAccept && `without an Accept header: ${withoutAccept}`,
  ].filter((text) => text !== undefined);
}

interface Fact {
  /** As a profile file spells it: `resources.user.key_field`. */
  readonly fact: string;
  readonly value: Value;
  readonly origin: Origin;
}

/** The facts of a profile in display order; in each group, the facts that every profile has come first. */
export function factsOf(profile: Profile): Fact[] {
  const named = (group: string, facts: object, first: readonly string[] = []): Fact[] => {
    const values = facts as Readonly<Record<string, Value | undefined>>;
    return [...new Set([...first, ...Object.keys(facts)])].flatMap((name) => {
      const value = values[name];
      const origin = originOf(profile, `${group}${name}`);
      if (value === undefined || APART.has(name)) return [];
      const hasConstants = isValueObject(value) && Object.hasOwn(value, 'constants');
      const isMasked = name === 'constants' || hasConstants;
      const shown = isMasked ? maskedValue('', value) : value;
      return [{ fact: `${group}${inYaml(name)}`, value: shown, origin }];
    });
  };
  const ofWrite = (group: string, facts: WriteFacts): Fact[] =>
    named(group, { wrapper: null, ...facts }, WRITE_FACTS);
  const { login: session = {}, ...auth } = profile.auth ?? {};
  const { name, basePath, endsWithSlash, accept, connections, ...others } = profile;
  return [
    ...named('', { name, basePath, endsWithSlash, accept, connections }),
    ...named('auth.', auth),
    ...named('auth.login.', session),
    ...named('answers.', profile.answers ?? {}),
    ...named('', { ids: 'stable', ...others }, ['idFields', 'ids', 'noId']),
    ...named('list.', profile.list),
    ...WRITES.flatMap((write) => ofWrite(`${write}.`, profile[write])),
    ...Object.entries(profile.resources).flatMap(([resource, facts]) => {
      if (facts === undefined) return [];
      const { single, update, details = {}, ...known } = facts;
      const group = `resources.${resource}.`;
      return [
        // A list is the normal case and is not shown.
        ...named(group, single === true ? { ...known, single } : known, RESOURCE_FACTS),
        ...(update === undefined ? [] : ofWrite(`${group}update.`, update)),
        ...Object.entries(details).map(([field, told]) => ({
          fact: `${group}${field}`,
          value: describe(told),
          origin:
            known.fieldFacts?.[field] === undefined
              ? ('observed' as const)
              : ('configured' as const),
        })),
      ];
    }),
  ];
}

/** Shown elsewhere, or not a fact about the device. */
const APART: ReadonlySet<string> = new Set([
  ...['answers', 'auth', 'list', ...WRITES, 'resources', 'origins', 'offers'],
  ...['pageStep', 'asked', 'fieldFacts', 'parses', 'itemAllows', 'collectionAllows', 'shown'],
]);

const WRITE_FACTS = [
  ...['method', 'path', 'encoding', 'constants', 'wrapper', 'selector', 'record'],
  ...['attributes', 'contentType', 'leftOut', 'lists', 'nullAs'],
];

const RESOURCE_FACTS = [
  ...['keyField', 'fields', 'choiceFields', 'path', 'single', 'summary', 'envelope', 'paging'],
  ...['volatile', 'bookkeeping', 'refused', 'namedBy', 'hidden', 'untold', 'sentBack'],
  ...['leftOut', 'lists', 'nullAs'],
];

/** The stored facts behind those that devsh concludes from them. */
const CONCLUDED: readonly (readonly [fact: RegExp, from: string])[] = [
  [/^(?:answers\..+|endsWithSlash)$/, 'answers'],
  [/^(create|update|remove)\b.*/, 'proven.$1'],
  [/^update\b.*/, 'resources.user.itemAllows'],
  [/^(resources\.[^.]+)\.update\b.*/, '$1.itemAllows'],
  [/^(resources\.[^.]+)\.update\b.*/, '$1.collectionAllows'],
  [/^(resources\.[^.]+)\.paging$/, '$1.pageStep'],
  [/^(resources\.[^.]+)\.[^.]+$/, '$1.details'],
];

/** Since when a fact is known (ISO 8601), and from what; null if that goes without saying. */
export function sinceOf(
  { fact, origin }: Fact,
  { name }: Profile,
  known: Since,
): { since: string | null; source: string | null } {
  if (origin === 'configured') return { since: null, source: `profile ${name}` };
  if (origin !== 'observed') return { since: null, source: null };
  const own = fact.replace(/[^.]+$/, inCode);
  const concluded = RESOURCE_FACTS.includes(own.replace(/.*\./, ''))
    ? CONCLUDED.slice(0, -1)
    : CONCLUDED;
  const [seen] = [
    own,
    ...concluded.flatMap(([of, from]) => (of.test(own) ? own.replace(of, from) : [])),
  ].flatMap((one) => known[one] ?? []);
  return seen === undefined
    ? { since: 'not known', source: null }
    : { since: seen.at, source: seen.source };
}

const FLAGS = [...['nullable', 'createOnly', 'writeOnly', 'secret', 'harmless', 'rights']] as const;

export function describe({ type, required, readOnly, choices, ...more }: FieldDetails): string {
  return [
    type,
    ...(required ? ['required'] : []),
    ...(readOnly ? ['read-only'] : []),
    ...FLAGS.flatMap((flag) => (more[flag] === true ? [inYaml(flag).replace('_', '-')] : [])),
    ...(more.nullable === false ? ['not null'] : []),
    ...(choices === undefined ? [] : [choices.map(({ value }) => value).join('|')]),
  ].join(' ');
}

/** The origin of a fact, or of the group that it belongs to. */
export function originOf({ origins }: Profile, fact: string): Origin {
  const group = fact.replace(/\.[^.]*$/, '');
  return origins[fact] ?? origins[group] ?? 'assumed';
}

/** A clock that counts seconds has advanced after this time. */
const CLOCK_TICK_MS = 1100;

/** Reads a resource up to twice more to find fields that change without a write. */
export async function watchForCounters(
  { access, io }: Call,
  session: DeviceSession,
  resource: string,
  first: readonly DeviceRecord[],
): Promise<readonly string[]> {
  const { facts } = session;
  const known = facts.get(`resources.${resource}.volatile`) ?? [];
  const about = { resource, keyField: keyFieldOf(session.profile, resource, first), asked: {} };
  const watch = new Watch(facts, about, first);
  if (!watch.next(await session.list(access, resource, io.signal))) return [];
  await sleep(CLOCK_TICK_MS, undefined, { signal: io.signal }).catch(() => undefined);
  watch.next(await session.list(access, resource, io.signal));
  await facts.notified;
  const all = facts.get(`resources.${resource}.volatile`) ?? [];
  return all.filter((field) => !known.includes(field));
}

export async function* showProfiles(call: Call<DeviceOption | 'profile'>): AsyncGenerator<Output> {
  const { services } = call.shell;
  const rows = [];
  for (const { entry, ref } of await call.targets()) {
    const known = await profileOf(services, entry);
    const since = await services.profiles.since(entry.address);
    rows.push(
      ...factsOf(known).map((fact) => ({
        device: ref.name,
        ...fact,
        ...sinceOf(fact, known, since),
      })),
    );
  }
  const extra = (key: string) => ({ key, title: key.toUpperCase(), isExtra: true }) as const;
  const columns = ['device', 'fact', 'value', 'origin', extra('since'), extra('source')];
  yield table('facts', columns, rows);
}

/** The device that the line names. Throws without such a device, before a file is written. */
async function namedDevice({ args, shell }: Call): Promise<{ name: string; before: string }> {
  const { inventory } = shell.services;
  const wanted = args.required('DEVICE');
  const device = (await inventory.load()).find(wanted);
  const { name, profile: before = 'documented' } = device ?? { name: wanted };
  if (device === undefined) await inventory.setProfile(wanted, before);
  return { name, before };
}

export async function* useProfile(call: Call<'yes'>): AsyncGenerator<Output> {
  const { inventory, profiles } = call.shell.services;
  const { fleet } = call.shell;
  const { name, before } = await namedDevice(call);
  const given = call.args.required('NAME');
  const isFile = /\/|\.ya?ml$/.test(given);
  const text = isFile ? await call.readText(given) : undefined;
  const { name: profile, aside } = await profiles.take(given, text, async (replaced) => {
    const all = (await inventory.load()).devices.filter((one) => one.profile === replaced);
    const users = all.length === 0 ? 'no device' : someOf(all.map((one) => one.name));
    const question = (expected: string): string =>
      `Replace the profile ${replaced}, which ${users} now uses? Type ${expected} to do it:`;
    await confirm(call, 1, question, { nothing: `the profile ${replaced} is as before` });
  });
  await inventory.setProfile(name, profile);
  const connected = fleet.connected.filter(({ ref }) => ref.name === name);
  fleet.join(fleet.sessions(connected.map(({ entry }) => ({ ...entry, profile }))));
  const undo = `before: ${before}; "profile use ${name} ${before}" sets it back`;
  const used = before === profile ? `${profile}, as before` : `${profile} (${undo})`;
  const kept = aside === undefined ? '' : `; what it replaced is in ${aside}`;
  yield success(`${name} uses the profile ${used}${kept}`);
}

/** `profile set` */
export async function* setFacts(call: Call): AsyncGenerator<Output> {
  const { inventory, profiles } = call.shell.services;
  const { name, before } = await namedDevice(call);
  const given = Object.entries(fieldsOf(call.args.words('FACT=VALUE')));
  const facts = Object.fromEntries(given.map(([fact, value]) => [fact, valueText(value)]));
  await profiles.setFacts(name, before === name ? 'documented' : before, facts);
  await inventory.setProfile(name, name);
  yield success(`${name} now uses the profile ${profiles.folder}/${name}.yaml`);
}
