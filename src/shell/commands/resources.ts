import { isResourceName } from '../../device/profile.ts';
import type { Fleet } from '../../fleet/fleet.ts';
import { DEVICES } from '../grammar/options.ts';
import { command } from '../command.ts';
import { table, info } from '../output.ts';

export const resources = command({
  name: 'resources',
  brief: 'List what the selected devices offer',
  section: 'Records',
  summary: 'List what the selected devices offer: each has the verbs of "user"',
  options: [...DEVICES, 'profile'],
  changes: 'nothing',
  async *run(call) {
    const offers = new Map<string, string[]>();
    const silent: string[] = [];
    for (const session of await call.sessions()) {
      await session.list(call.access, 'user', call.io.signal);
      await session.learn(call.access, 'user', 'once', call.io.signal);
      const { offers: offered } = session.profile;
      if (offered === undefined) silent.push(session.ref.name);
      for (const resource of offered ?? ['user']) {
        offers.set(resource, [...(offers.get(resource) ?? []), session.ref.name]);
      }
    }
    yield table(
      'resources',
      ['resource', 'devices'],
      [...offers].map(([resource, devices]) => ({ resource, devices })),
    );
    const text = remark(offers, silent);
    if (text !== undefined) yield info(text);
  },
});

/** `resource NAME VERB …`: only explained here, as the grammar finds the verbs of the resource. */
export const resource = command({
  name: 'resource',
  section: 'Records',
  summary: 'The verbs of any resource, also of one that is called like a command',
  args: [
    {
      name: 'NAME',
      summary: 'what the device calls it',
      isRequired: true,
      complete: ({ fleet, commands }) => {
        const seen = commands.filter(({ defaultVerb }) => defaultVerb === 'list');
        const names = [...resourceNames(fleet), ...seen.map(({ name }) => name)];
        return [...new Set(names)].map((text) => ({ text }));
      },
    },
    { name: 'VERB', summary: 'a verb of "user", with what belongs to it', isRest: true },
  ],
  details:
    'The name of a resource alone is a command, too, once it was seen. A word that nobody knows is looked\n' +
    'for on one of the selected devices by one GET before it is called a mistake.',
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
function remark(
  offers: ReadonlyMap<string, readonly string[]>,
  silent: readonly string[],
): string | undefined {
  if (silent.length > 0) {
    return (
      `${silent.join(', ')}: not told what there is besides users, which the API document names; ` +
      '"learn" may find more, "get /api/" shows what is there, "NAME list" reads one you know of'
    );
  }
  const [only, ...others] = offers.keys();
  if (only === undefined || others.length > 0) return undefined;
  return `the devices list nothing but ${only} ("get /api/" shows it); "NAME list" reads one you know of`;
}
