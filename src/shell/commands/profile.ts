import { BUILT_IN_PROFILES } from '../../device/built-in-profiles.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import { type Call, type CommandSpec, command, later, verb } from '../command.ts';
import { type Output, success } from '../output.ts';
import { DEVICES } from '../grammar/options.ts';
import { oneDevice, TARGETS } from '../arguments.ts';
import { resourceNames } from './resources.ts';

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
      run: later(async () => (await import('../devices/profiles-in-use.ts')).showProfiles),
    }),
    verb({
      name: 'try',
      summary: 'Read with a profile, and show what devsh understands and would send',
      args: [
        oneDevice('DEVICE', 'the device'),
        {
          name: 'RESOURCE',
          summary: 'what to read; user if nothing else is stated',
          complete: ({ fleet }) => resourceNames(fleet).map((text) => ({ text })),
        },
        {
          name: 'FILE',
          summary: 'a profile file (./NAME, NAME.yaml, -) instead of the one in use',
        },
      ],
      options: [...DEVICES, 'profile'],
      changes: 'nothing',
      details:
        'Sends only GET, and keeps nothing: records, id, key, fields and login, the requests of an add, a change\n' +
        'and a delete with example values, and facts that would fit better.',
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
          summary:
            'a profile by its name, or a file (./NAME, NAME.yaml), which is copied to the profiles',
          isRequired: true,
          complete: () => BUILT_IN_PROFILES.map(({ name }) => ({ text: name })),
        },
      ],
      examples: ['profile use fw1 drf', 'profile use fw1 router.yaml'],
      run: later(async () => (await import('../devices/profiles-in-use.ts')).useProfile),
    }),
    verb({
      name: 'set',
      summary: 'State facts for a device of the inventory',
      args: [
        oneDevice('DEVICE', 'a device of the inventory'),
        {
          name: 'FACT=VALUE',
          summary: 'a fact as a profile file names it, as in update.method=PUT',
          isRequired: true,
          isRest: true,
        },
      ],
      details:
        'They go to a profile file of the device, which extends its earlier profile. Write lists and maps\n' +
        'as in YAML: id_fields=[id], "remove.constants={action: delete}".',
      examples: ['profile set fw1 update.method=PUT update.path={item}'],
      run: later(async () => (await import('../devices/profiles-in-use.ts')).setFacts),
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
        yield success(
          `${file} is a valid profile; devsh uses it as ${call.shell.services.profiles.folder}/${checked.name}.yaml`,
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
  async *run(call) {
    yield* call.inTurn(await call.targets(), (session) => learnOne(call, session));
  },
});

async function* learnOne(call: Call, session: DeviceSession): AsyncGenerator<Output> {
  const resource = 'user';
  const records = await session.list(call.access, resource, call.io.signal);
  const { learnedTexts, watchForCounters } = await import('../devices/learning.ts');
  await session.learn(call.access, resource, 'again', call.io.signal);
  const counters = await watchForCounters(call, session, resource, records);
  const facts = learnedTexts(session.profile, resource);
  if (counters.length > 0) facts.push(`${counters.join(', ')} change by themselves`);
  const text = facts.length === 0 ? 'the device describes nothing' : facts.join(' · ');
  yield { ...success(`${session.ref.name}: ${text}`), hasSuccess: true };
}
