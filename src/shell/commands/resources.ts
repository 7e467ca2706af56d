import { isResourceName } from '../../device/profile.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import type { Fleet } from '../../fleet/fleet.ts';
import { grouped } from '../../device/record.ts';
import { DEVICES } from '../grammar/options.ts';
import { command } from '../command.ts';
import { info, table } from '../output.ts';

export const resources = command({
  name: 'resources',
  brief: 'List the resources of the selected devices',
  section: 'Records',
  summary: 'List the resources of the selected devices; each has the verbs of "user"',
  options: [...DEVICES, 'profile'],
  changes: 'nothing',
  async *run(call) {
    const sessions = await call.sessions();
    const failed = new Set<DeviceSession>();
    for await (const { session, ...read } of call.read(sessions, 'user')) {
      if (read.ok) continue;
      failed.add(session);
      yield { kind: 'error', error: read.error, device: session.ref };
    }
    call.io.signal.throwIfAborted();
    const ready = sessions.filter((session) => !failed.has(session));
    const { learnAllQuietly } = await import('../devices/learning.ts');
    await learnAllQuietly(call, ready, 'user');
    const offered = ready.flatMap(({ profile, ref }) =>
      (profile.offers ?? ['user']).map((resource) => ({ resource, device: ref.name })),
    );
    const offers = grouped(offered, ({ resource }) => resource);
    yield table(
      'resources',
      ['resource', 'devices'],
      [...offers].map(([resource, some]) => ({ resource, devices: some.map((one) => one.device) })),
      { hasSuccess: ready.length > 0 },
    );
    const silent = ready.filter(({ profile }) => profile.offers === undefined);
    const text = remark(
      [...offers.keys()],
      silent.map(({ ref }) => ref.name),
    );
    if (text !== undefined) yield info(text);
  },
});

/** `resource NAME VERB …`: only explained here, as the grammar finds the verbs of the resource. */
export const anyResource = command({
  name: 'resource',
  section: 'Records',
  summary: 'The verbs of any resource, even if its name is a command',
  args: [
    {
      name: 'NAME',
      summary: 'a resource, as "resources" lists it',
      isRequired: true,
      complete: ({ fleet, commands }) => {
        const seen = commands.filter(({ defaultVerb }) => defaultVerb === 'list');
        const names = [...resourceNames(fleet), ...seen.map(({ name }) => name)];
        return [...new Set(names)].map((text) => ({ text }));
      },
    },
    { name: 'VERB', summary: 'a verb of "user", with its arguments', isRest: true },
  ],
  details:
    'The name of a resource that was read before is a command, too. For an unknown first word devsh asks one\n' +
    'selected device with one GET before it reports a mistake.',
  examples: ['resource alias list', 'resource config list'],
  *run() {
    // A line with a name gets the verbs of the resource instead.
  },
});

export function resourceNames({ known }: Pick<Fleet, 'known'>): string[] {
  const names = known.flatMap(({ profile }) => [
    ...(profile.offers ?? []),
    ...Object.keys(profile.resources),
  ]);
  return [...new Set(names)].filter(isResourceName);
}

/** Explains a short list, and where to find more. */
function remark(offers: readonly string[], silent: readonly string[]): string | undefined {
  if (silent.length > 0) {
    return (
      `${silent.join(', ')}: no resources known besides user; "learn" may find more, "get /api/" shows ` +
      'what is there, "NAME list" reads one that you know'
    );
  }
  const [only, ...others] = offers;
  if (only === undefined || others.length > 0) return undefined;
  return `the devices that responded list only ${only} ("get /api/" shows it); "NAME list" reads one that you know`;
}
