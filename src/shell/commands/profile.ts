import type { FieldFacts, Learned } from '../../device/learned-schema.ts';
import { WRITES, type Origin, type Profile, type WriteFacts } from '../../device/profile.ts';
import type { Value } from '../../device/record.ts';
import { valueText } from '../../device/value-text.ts';
import type { Member } from '../../fleet/member.ts';
import { inYaml } from '../../text/yaml-names.ts';
import type { Call } from '../call.ts';
import { profileOf } from '../access/device-profile.ts';
import type { Output } from '../output.ts';
import { DEVICES } from '../grammar/options.ts';
import { verb, type ArgSpec, type CommandSpec } from '../grammar/spec.ts';
import { fieldsOf, TARGETS } from './arguments.ts';

const names: NonNullable<ArgSpec['complete']> = ({ targets }) =>
  targets.filter(({ text }) => !text.startsWith('@'));

export const profile: CommandSpec = {
  name: 'profile',
  summary: 'How devices speak, and where devsh knows it from',
  section: 'Raw API',
  defaultVerb: 'show',
  verbs: [
    verb({
      name: 'show',
      summary: 'Show every fact of how a device speaks, with its origin',
      args: [TARGETS],
      options: [...DEVICES, 'profile'],
      details:
        'Origins: documented (the API document), observed (seen on this device), assumed (convention),\n' +
        'configured (a profile file). "device add NAME ADDRESS --profile NAME" chooses another profile.',
      examples: ['profile fw1'],
      async *run(call) {
        const rows = [];
        for (const member of await membersOf(call)) {
          const known = await profileOf(call.session.services, member.entry);
          rows.push(...factsOf(known).map((fact) => ({ device: member.ref.name, ...fact })));
        }
        yield {
          kind: 'table',
          name: 'facts',
          columns: [
            { key: 'device', title: 'DEVICE' },
            { key: 'fact', title: 'FACT' },
            { key: 'value', title: 'VALUE' },
            { key: 'origin', title: 'ORIGIN' },
          ],
          rows,
        };
      },
    }),
    verb({
      name: 'set',
      summary: 'State facts of how a device of the inventory speaks',
      args: [
        { name: 'DEVICE', summary: 'a device of the inventory', isRequired: true, complete: names },
        {
          name: 'FACT=VALUE',
          summary: 'a fact as a profile file names it, as in update.method=PUT',
          isRequired: true,
          isRest: true,
        },
      ],
      options: [],
      details:
        'They go to a profile file of the device, which extends what it had before. Lists and maps are\n' +
        'written as in YAML: id_fields=[id], "remove.constants={action: delete}".',
      examples: ['profile set fw1 update.method=PUT update.path={item}'],
      async *run({ args, session }) {
        const { inventory, profiles } = session.services;
        const wanted = args.required('DEVICE');
        const device = (await inventory.load()).find(wanted);
        const name = device?.name ?? wanted;
        const facts = Object.fromEntries(
          Object.entries(fieldsOf(args.words('FACT=VALUE'))).map(([fact, value]) => [
            fact,
            valueText(value),
          ]),
        );
        const base = device?.profile ?? 'documented';
        // Without such a device this says so, before a file is made.
        if (device === undefined) await inventory.setProfile(name, base);
        await profiles.setFacts(name, base === name ? 'documented' : base, facts);
        await inventory.setProfile(name, name);
        const text = `${name} speaks by ${profiles.folder}/${name}.yaml from now on`;
        yield { kind: 'message', level: 'done', text };
      },
    }),
    verb({
      name: 'check',
      summary: 'Check a profile file',
      args: [{ name: 'FILE', summary: 'a profile in YAML or JSON', isRequired: true }],
      options: [],
      async *run(call) {
        const file = call.args.required('FILE');
        const text = await call.readText(file);
        const { parseProfile } = await import('../../device/profile-file.ts');
        const checked = parseProfile(text, file, file.replace(/^.*\/|\.ya?ml$/g, ''));
        yield {
          kind: 'message',
          level: 'done',
          text: `${file} is a profile: it goes to ${call.session.services.profiles.folder}/${checked.name}.yaml`,
        };
      },
    }),
    verb({
      name: 'schema',
      summary: 'Print the JSON schema of profile files, for editors',
      args: [],
      options: [],
      async *run() {
        const { profileJsonSchema } = await import('../../device/profile-schema.ts');
        const schema = JSON.stringify(profileJsonSchema(), null, 2);
        yield { kind: 'text', name: 'jsonSchema', text: schema };
      },
    }),
  ],
};

export const learn: CommandSpec = {
  name: 'learn',
  summary: 'Ask devices how they speak, without writing',
  section: 'Raw API',
  verbs: [
    verb({
      name: '',
      summary: 'Ask devices how they speak, without writing: GET /api/ and OPTIONS',
      args: [TARGETS],
      options: [...DEVICES, 'profile'],
      details:
        'What they say is kept with its date: resources, methods, field types, choices. Connecting does\n' +
        'the same in the background.',
      examples: ['learn', 'learn fw1'],
      async *run(call) {
        for (const member of await membersOf(call)) yield* learnOne(call, member);
      },
    }),
  ],
};

async function* learnOne(call: Call, member: Member): AsyncGenerator<Output> {
  const resource = 'user';
  const records = await member.list(call.access, resource, call.io.signal);
  const { learnMember } = await import('../devices/learning.ts');
  const { watchForCounters } = await import('../writing/observed.ts');
  const learned = await learnMember(call, member, resource, 'again');
  const counters = await watchForCounters(call, member, resource, records);
  const facts = learned === undefined ? [] : learnedTexts(learned, resource);
  if (counters.length > 0) facts.push(`${counters.join(', ')} change by themselves`);
  yield {
    kind: 'message',
    level: 'done',
    text: `${member.ref.name}: ${facts.length === 0 ? 'says nothing of itself' : facts.join(' · ')}`,
  };
}

function learnedTexts(
  { resources, byResource, answers = {} }: Learned,
  resource: string,
): string[] {
  const { itemAllows, collectionAllows, fields, parses, envelope, paging, summary } =
    byResource[resource] ?? {};
  const { withSlash, withoutSlash, withoutAccept } = answers;
  return [
    resources && `resources ${resources.join(', ')}`,
    collectionAllows && `the list allows ${collectionAllows.join(', ')}`,
    itemAllows && `a record allows ${itemAllows.join(', ')}`,
    fields && `${Object.keys(fields).length} fields described`,
    parses && `takes ${parses.join(', ')}`,
    envelope && `records in: ${envelope}`,
    paging && `pages ${paging}`,
    summary === true ? 'its list leaves fields out' : undefined,
    withSlash && `with a slash at the end: ${withSlash}`,
    withoutSlash && `without: ${withoutSlash}`,
    withoutAccept && `asked for no format: ${withoutAccept}`,
  ].filter((text) => text !== undefined);
}

interface Fact {
  /** As a profile file spells it: `resources.user.key_field`. */
  readonly fact: string;
  readonly value: Value;
  readonly origin: Origin;
}

/** In the order in which they are shown; in each group first what every profile says. */
function factsOf(profile: Profile): Fact[] {
  const named = (group: string, facts: object, names: readonly string[] = Object.keys(facts)) => {
    const values = facts as Readonly<Record<string, Value | undefined>>;
    return names.flatMap((name): Fact[] => {
      const value = values[name];
      const origin = originOf(profile, `${group}${name}`);
      return value === undefined ? [] : [{ fact: `${group}${inYaml(name)}`, value, origin }];
    });
  };
  const ofWrite = (group: string, facts: WriteFacts): Fact[] =>
    named(group, { wrapper: null, ...facts }, WRITE_FACTS);
  return [
    ...named('', profile, ['name', 'basePath', 'endsWithSlash', 'accept', 'connections']),
    ...named('answers.', profile.answers ?? {}),
    ...named('', { ids: 'stable', ...profile }, ['idFields', 'ids', 'noId', 'errorsIn']),
    ...named('list.', profile.list),
    ...WRITES.flatMap((write) => ofWrite(`${write}.`, profile[write])),
    ...Object.entries(profile.resources).flatMap(([resource, facts]) => {
      if (facts === undefined) return [];
      const { single, update, details = {}, ...others } = facts;
      const group = `resources.${resource}.`;
      return [
        // That something is a list goes without saying.
        ...named(group, single === true ? { ...others, single } : others, RESOURCE_FACTS),
        ...(update === undefined ? [] : ofWrite(`${group}update.`, update)),
        ...Object.entries(details).map(([field, told]) => ({
          fact: `${group}${field}`,
          value: describe(told),
          origin: originOf(profile, `${group}${field}`),
        })),
      ];
    }),
  ];
}

const WRITE_FACTS = [
  ...['method', 'path', 'encoding', 'constants', 'wrapper', 'selector', 'record'],
  ...['attributes', 'contentType', 'leftOut', 'lists'],
];

const RESOURCE_FACTS = [
  ...['keyField', 'fields', 'choiceFields', 'path', 'single', 'summary', 'envelope', 'paging'],
  ...['volatile', 'bookkeeping', 'namedBy', 'hidden', 'sentBack', 'leftOut', 'lists'],
];

function describe({ type, required, readOnly, choices }: FieldFacts): string {
  return [
    type,
    ...(required ? ['required'] : []),
    ...(readOnly ? ['read-only'] : []),
    ...(choices === undefined ? [] : [choices.map(({ value }) => value).join('|')]),
  ].join(' ');
}

/** The origin of a fact, or of the group that it belongs to. */
function originOf({ origins }: Profile, fact: string): Origin {
  const group = fact.replace(/\.[^.]*$/, '');
  const isDetail = /^answers\.|^resources\.[^.]+\.(?!keyField|fields|choiceFields)/.test(fact);
  return origins[fact] ?? origins[group] ?? (isDetail ? 'observed' : 'assumed');
}

async function membersOf(call: Call): Promise<readonly Member[]> {
  const targets = call.args.all('TARGET');
  return targets.length > 0 ? call.resolve(targets) : call.members();
}
