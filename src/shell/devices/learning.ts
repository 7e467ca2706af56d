import { setTimeout as sleep } from 'node:timers/promises';
import { Watch } from '../../change/observe.ts';
import { factsOf, keyFieldOf, type Origin, originOf, type Profile } from '../../device/profile.ts';
import type { FieldFacts } from '../../device/profile-schema.ts';
import { type DeviceRecord, type Value, valueText } from '../../device/record.ts';
import { maskedValue } from '../../device/sensitive-fields.ts';
import { DevshError } from '../../errors.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import type { DeviceEntry } from '../../fleet/inventory.ts';
import type { Since } from '../../settings/profile-files.ts';
import { counted, someOf } from '../../text/one-line.ts';
import { inYaml } from '../../text/yaml-names.ts';
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

/** Yields the facts of a profile, by their names in the code, with their values as shown. */
function* shownFacts(profile: Profile) {
  const { ids = 'stable' } = profile;
  const facts = { ...profile, ids, origins: undefined, ignored: undefined };
  for (const [fact, value] of factsOf(facts)) {
    // A list is the normal case and is not shown.
    if (/^resources\..*\.single$/.test(fact) && value === false) continue;
    const isField = /^resources\.[^.]+\.fields\./.test(fact);
    const isMasked = /\.(?:constants|fields)$/.test(fact);
    const shown = isMasked ? maskedValue('', value as Value) : (value as Value);
    yield [fact, isField ? describe(value as FieldFacts) : shown] as const;
  }
}

/** The name of a fact as a profile file spells it. Names of resources and fields stay as the device spells them. */
function inFile(fact: string): string {
  return fact.replace(/^(?:resources\.[^.]+\.(?:fields\..*)?)?|[A-Z]/g, (part) =>
    part.length > 1 ? part : inYaml(part),
  );
}

const OF_WRITE = /^(create|update|remove)\b.*/;

/** Since when an observed fact is known (ISO 8601), and from which source; null for other origins. */
function sinceOf(own: string, origin: Origin, known: Since) {
  if (origin !== 'observed') return { since: null, source: null };
  // devsh concludes ways to write from other facts.
  const [seen] = [
    own,
    own.replace(OF_WRITE, '$1'),
    own.replace(OF_WRITE, 'resources.user.options'),
    own.replace(/^(resources\.[^.]+)\.update\b.*/, '$1.options'),
  ].flatMap((one) => known[one] ?? []);
  return { since: seen?.at ?? 'not known', source: seen?.source ?? null };
}

/** The facts of a field as a profile states them: `choice required de|en`. */
export function describe(facts: FieldFacts): string {
  const { type, choices, nullable, refers } = facts;
  const words = Object.entries(facts).flatMap(([name, value]) =>
    value === true && name !== 'isStated' ? inYaml(name) : [],
  );
  const values = choices?.map(({ value }) => value).join('|');
  const more = nullable === false ? 'not_nullable' : undefined;
  const other = refers && `refers to ${refers}`;
  return [type, ...words, more, values, other].filter((part) => part !== undefined).join(' ');
}

/** A clock that counts seconds has advanced after this time. */
const CLOCK_TICK_MS = 1100;

/** Reads a resource up to twice more to find fields that change without a write. */
async function watchForCounters(
  { access, io }: Call,
  session: DeviceSession,
  resource: string,
  first: readonly DeviceRecord[],
): Promise<void> {
  const { facts } = session;
  const about = { resource, keyField: keyFieldOf(session.profile, resource, first), asked: {} };
  const watch = new Watch(facts, about, first);
  if (watch.next(await session.list(access, resource, io.signal))) {
    await sleep(CLOCK_TICK_MS, undefined, { signal: io.signal }).catch(() => undefined);
    watch.next(await session.list(access, resource, io.signal));
  }
  await facts.notified;
}

export async function* showProfiles(call: Call<DeviceOption | 'profile'>): AsyncGenerator<Output> {
  const { services } = call.shell;
  const rows = [];
  for (const { entry } of await call.targets())
    rows.push(...(await factRows(call, entry, await profileOf(services, entry))));
  yield factsTable(rows);
}

export async function* learnFacts(call: Call): AsyncGenerator<Output> {
  const [resource, rows] = ['user', [] as FactRow[]];
  yield* call.inTurn(await call.targets(), async function* (session) {
    const records = await session.list(call.access, resource, call.io.signal);
    await session.learn(call.access, resource, 'again', call.io.signal);
    await watchForCounters(call, session, resource, records);
    const all = await factRows(call, session.entry, session.profile);
    const seen = all.filter(({ origin }) => origin === 'observed');
    rows.push(...seen);
    const text = `${session.ref.name}: observed ${counted(seen.length, 'fact')}`;
    yield { ...success(text), hasSuccess: true };
  });
  yield factsTable(rows);
}

type FactRow = Awaited<ReturnType<typeof factRows>>[number];

async function factRows({ shell }: Call, { name, address }: DeviceEntry, known: Profile) {
  const since = await shell.services.profiles.since(address);
  return Array.from(shownFacts(known), ([fact, value]) => {
    const origin = originOf(known, fact);
    const seen = sinceOf(fact, origin, since);
    const source = origin === 'configured' ? `profile ${known.name}` : seen.source;
    return { device: name, fact: inFile(fact), value, origin, ...seen, source };
  });
}

function factsTable(rows: readonly FactRow[]): Output {
  const extra = (key: string) => ({ key, title: key.toUpperCase(), isExtra: true }) as const;
  const columns = ['device', 'fact', 'value', 'origin', extra('since'), extra('source')];
  return table('facts', columns, rows);
}

/** The device that the line names. Throws without such a device, before a file is written. */
async function namedDevice({ args, shell }: Call): Promise<{ name: string; before: string }> {
  const { inventory } = shell.services;
  const wanted = args.required('DEVICE');
  const device = (await inventory.load()).find(wanted);
  const { name, profile: before = 'documented' } = device ?? { name: wanted };
  if (device === undefined) await inventory.edit((file) => file.setProfile(wanted, before));
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
  await inventory.edit((file) => file.setProfile(name, profile));
  const connected = fleet.connected.filter(({ ref }) => ref.name === name);
  fleet.join(fleet.sessions(connected.map(({ entry }) => ({ ...entry, profile }))));
  const undo = `before: ${before}; "profile use ${name} ${before}" sets it back`;
  const used = before === profile ? `${profile}, as before` : `${profile} (${undo})`;
  const kept = aside === undefined ? '' : `; what it replaced is in ${aside}`;
  yield success(`${name} uses the profile ${used}${kept}`);
}

export async function* setFacts(call: Call): AsyncGenerator<Output> {
  const { inventory, profiles } = call.shell.services;
  const { name, before } = await namedDevice(call);
  const given = Object.entries(fieldsOf(call.args.words('FACT=VALUE')));
  const facts = Object.fromEntries(given.map(([fact, value]) => [fact, valueText(value)]));
  await profiles.setFacts(name, before === name ? 'documented' : before, facts);
  await inventory.edit((file) => file.setProfile(name, name));
  yield success(`${name} now uses the profile ${profiles.folder}/${name}.yaml`);
}
