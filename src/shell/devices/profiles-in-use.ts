import { valueText } from '../../device/record.ts';
import { profileOf } from '../access/access.ts';
import { fieldsOf } from '../arguments.ts';
import type { Call } from '../command.ts';
import type { DeviceOption } from '../grammar/options.ts';
import { type Output, success, table } from '../output.ts';
import { factsOf, sinceOf } from './learning.ts';

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

export async function* useProfile(call: Call): AsyncGenerator<Output> {
  const { inventory, profiles } = call.shell.services;
  const { fleet } = call.shell;
  const { name, before } = await namedDevice(call);
  const given = call.args.required('NAME');
  const isFile = /\/|\.ya?ml$/.test(given);
  const profile = await profiles.take(given, isFile ? await call.readText(given) : undefined);
  await inventory.setProfile(name, profile);
  const connected = fleet.connected.filter(({ ref }) => ref.name === name);
  fleet.join(fleet.sessions(connected.map(({ entry }) => ({ ...entry, profile }))));
  const undo = `before: ${before}; "profile use ${name} ${before}" sets it back`;
  const text = before === profile ? `${profile}, as before` : `${profile} (${undo})`;
  yield success(`${name} uses the profile ${text}`);
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
