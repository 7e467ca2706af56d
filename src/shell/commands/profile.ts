import { BUILT_IN_PROFILES } from '../../device/built-in-profiles.ts';
import { isResourceName } from '../../device/profile.ts';
import { grouped } from '../../device/record.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import type { Fleet } from '../../fleet/fleet.ts';
import { oneDevice, TARGETS } from '../arguments.ts';
import { command, type CommandSpec, later, verb } from '../command.ts';
import { DEVICES } from '../grammar/options.ts';
import { info, success, table } from '../output.ts';

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
    const rows = [...offers].map(([resource, some]) => {
      return { resource, devices: some.map((one) => one.device) };
    });
    yield table('resources', ['resource', 'devices'], rows, { hasSuccess: ready.length > 0 });
    const silent = ready.filter(({ profile }) => profile.offers === undefined);
    const names = silent.map(({ ref }) => ref.name);
    const text = remark([...offers.keys()], names);
    if (text !== undefined) yield info(text);
  },
});

/** Explains `resource NAME VERB …` in the help. The grammar itself finds the verbs of the resource. */
export const anyResource = command({
  name: 'resource',
  section: 'Records',
  summary: 'Use the verbs of any resource, even if its name is a command',
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
    // The grammar replaces a line with a name by the verbs of the resource.
  },
});

export function resourceNames({ known }: Pick<Fleet, 'known'>): string[] {
  const names = known.flatMap(({ profile }) => [
    ...(profile.offers ?? []),
    ...Object.keys(profile.resources),
  ]);
  return [...new Set(names)].filter(isResourceName);
}

/** Explains why the list is short, and where to find more. */
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

export const profile: CommandSpec = {
  name: 'profile',
  summary: 'Show and set how devices speak, with origins',
  section: 'Raw API',
  defaultVerb: 'show',
  verbs: [
    verb({
      name: 'show',
      summary: 'Show every fact of a profile with its origin',
      args: [TARGETS],
      options: [...DEVICES, 'profile'],
      changes: 'nothing',
      details:
        'Origins: documented (the API document), observed (seen on this device), assumed (convention),\n' +
        'configured (a profile file). "device add NAME ADDRESS --profile NAME" sets another profile.',
      examples: ['profile fw1'],
      run: later(async () => (await import('../devices/learning.ts')).showProfiles),
    }),
    verb({
      name: 'try',
      summary: 'Read with a profile, and show what devsh understands and would send',
      args: [
        oneDevice('DEVICE', 'the device'),
        {
          name: 'RESOURCE',
          summary: 'the resource to read (default user)',
          complete: ({ fleet }) => resourceNames(fleet).map((text) => ({ text })),
        },
        { name: 'FILE', summary: 'a profile file (./NAME, NAME.yaml, -), not the one in use' },
      ],
      options: [...DEVICES, 'profile'],
      changes: 'nothing',
      details:
        'devsh sends only GET, and keeps nothing. It shows records, id, key, fields and login, the requests of an\n' +
        'add, a change and a delete with example values, and facts that would fit better.',
      examples: ['profile try fw1 router.yaml', 'profile try fw1 interface --profile drf'],
      run: later(async () => (await import('../devices/try-profile.ts')).tryProfile),
    }),
    verb({
      name: 'use',
      summary: 'Attach a profile to a device of the inventory',
      args: [
        oneDevice('DEVICE', 'a device of the inventory'),
        {
          name: 'NAME',
          summary: 'a profile by its name, or a file (./NAME, NAME.yaml), which is copied',
          isRequired: true,
          complete: () => BUILT_IN_PROFILES.map(({ name }) => ({ text: name })),
        },
      ],
      options: ['yes'],
      details:
        'A file that has changed replaces the profile of its name, for all devices that use it: devsh asks first, and\n' +
        'keeps the earlier one beside it.',
      examples: ['profile use fw1 drf', 'profile use fw1 router.yaml --yes'],
      run: later(async () => (await import('../devices/learning.ts')).useProfile),
    }),
    verb({
      name: 'set',
      summary: 'State facts for a device of the inventory',
      args: [
        oneDevice('DEVICE', 'a device of the inventory'),
        {
          name: 'FACT=VALUE',
          summary: 'a fact as a profile file names it, as in update.method=PUT',
          complete: async ({ fleet }) => {
            const { statedFacts } = await import('../../device/profile-schema.ts');
            const names = new Set(['user', ...resourceNames(fleet)]);
            return [...statedFacts([...names])].map((fact) => ({ ...fact, continues: true }));
          },
          isRequired: true,
          isRest: true,
        },
      ],
      details:
        'They go to a profile file of the device, which extends its earlier profile. Write lists and maps\n' +
        'as in YAML: id_fields=[id], "remove.constants={action: delete}".',
      examples: ['profile set fw1 update.method=PUT update.path={item}'],
      run: later(async () => (await import('../devices/learning.ts')).setFacts),
    }),
    verb({
      name: 'check',
      summary: 'Check a profile file',
      args: [{ name: 'FILE', summary: 'a profile in YAML or JSON', isRequired: true }],
      changes: 'nothing',
      async *run(call) {
        const file = call.args.required('FILE');
        const text = await call.readText(file);
        const { parseProfile } = await import('../../device/profile-file.ts');
        const checked = parseProfile(text, file, file.replace(/^.*\/|\.ya?ml$/g, ''));
        const { folder } = call.shell.services.profiles;
        yield success(
          `${file} is a valid profile; devsh uses it as ${folder}/${checked.name}.yaml`,
        );
      },
    }),
  ],
};

export const learn = command({
  name: 'learn',
  brief: 'Learn how devices speak, without writing',
  section: 'Raw API',
  summary: 'Learn how devices speak, without writing: GET /api/ and OPTIONS',
  args: [TARGETS],
  options: [...DEVICES, 'profile'],
  details:
    'devsh keeps the result: resources, methods, field types, choices. "connect" does the same in the\n' +
    'background.',
  examples: ['learn', 'learn fw1'],
  run: later(async () => (await import('../devices/learning.ts')).learnFacts),
});
