import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { EVIDENCE, factEvidence } from './fact-evidence.ts';
import { FIELD_WORDS, profileJsonSchema } from '../../src/device/profile-schema.ts';
import { inventoryJsonSchema } from '../../src/fleet/inventory-schema.ts';
import { settingsJsonSchema } from '../../src/settings/settings-schema.ts';
import { table } from './table.ts';

interface Schema {
  readonly description?: string;
  readonly type?: string | readonly string[];
  /** A word, and perhaps what an editor takes it for. */
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
}

/** Examples, and the profiles of products that the tests run. */
const PROFILES = ['../../profiles', '../real', '../real/drf', '../real/products'];

/** The profiles that state each fact; facts of `update` and `remove` count as those of `create`. */
function factsInProfiles(): Map<string, string[]> {
  const stated = new Map<string, string[]>();
  const collect = (value: unknown, path: string, profile: string): void => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
    for (const [name, inner] of Object.entries(value)) {
      const own = `${path}${name}`;
      const fact = own
        .replace(/^(?:.*\.update|update|remove)\b/, 'create')
        .replace(/^.*\.list\b/, 'list');
      stated.set(fact, [...new Set([...(stated.get(fact) ?? []), profile])]);
      const isNamed = own === 'resources';
      const parts: unknown[] = isNamed ? Object.values(inner as object) : [inner];
      for (const part of parts) collect(part, isNamed ? `${own}.NAME.` : `${own}.`, profile);
    }
  };
  for (const folder of PROFILES.map((one) => join(import.meta.dirname, one))) {
    for (const file of readdirSync(folder).filter((name) => name.endsWith('.yaml'))) {
      const text = readFileSync(join(folder, file), 'utf8');
      collect(parse(text, { schema: 'failsafe' }), '', file.replace('.yaml', ''));
    }
  }
  return stated;
}

/**
 * The facts of a profile file. `create`, `update` and `remove` have the same ones, and so has the `list` of a resource:
 * they stand once. Throws for a fact without evidence, and for evidence that a profile has made needless.
 */
export function profileFacts(): string {
  const stated = factsInProfiles();
  const evidenceOf = (fact: string): string => factEvidence(fact, stated.get(fact) ?? []);
  const rows = (schema: Schema, path: string): string[][] =>
    Object.entries(schema.properties ?? {}).flatMap(([name, fact]) => {
      const inner = fact.additionalProperties;
      const own = `${path}${name}`;
      if (/^(?:update|remove|resources\.NAME\.(?:list|update))$/.test(own)) return [];
      if (name === 'resources' && typeof inner === 'object') return rows(inner, `${own}.NAME.`);
      if (fact.properties !== undefined && name !== 'options') return rows(fact, `${own}.`);
      const isLearned = evidenceOf(own).endsWith('learned');
      return [[`\`${own}\``, meaningOf(fact) + (isLearned ? '; *learned*' : '')]];
    });
  const all = rows(profileJsonSchema() as Schema, '');
  const known = new Set(all.map(([fact]) => fact));
  const unknown = Object.keys(EVIDENCE).find((fact) => !known.has(`\`${fact}\``));
  if (unknown !== undefined) throw new Error(`${unknown} has evidence and is no fact`);
  return table(['fact', 'meaning'], all);
}

/** The words that say what a field is. */
export function fieldWords(): string {
  return table(
    ['word', 'meaning'],
    Object.entries(FIELD_WORDS).map(([word, says]) => [`\`${word}\``, says]),
  );
}

/** What a device, and a group, may say in devices.yaml. */
export function inventoryFacts(): string {
  const { devices, groups } = (inventoryJsonSchema() as Schema).properties ?? {};
  const ofDevice = propertiesOf(devices?.items);
  const ofGroup = propertiesOf(groups?.additionalProperties);
  const names = [...new Set([...Object.keys(ofDevice), ...Object.keys(ofGroup)])];
  const rows = names.map((name) => [
    `\`${name}\``,
    [name in ofDevice ? 'device' : '', name in ofGroup ? 'group' : ''].filter(Boolean).join(', '),
    meaningOf(ofDevice[name] ?? ofGroup[name] ?? {}),
  ]);
  return table(['key', 'of a', 'meaning'], rows);
}

/** What settings.json may say. */
export function settingsFacts(): string {
  const settings = propertiesOf(settingsJsonSchema() as Schema);
  const rows = Object.entries(settings).map(([name, fact]) => {
    const usual = fact.default === undefined ? '' : `\`${JSON.stringify(fact.default)}\``;
    return [`\`${name}\``, meaningOf(fact), usual];
  });
  return table(['setting', 'meaning', 'default'], rows);
}

function propertiesOf(schema: Schema | boolean | undefined): Readonly<Record<string, Schema>> {
  return typeof schema === 'object' ? (schema.properties ?? {}) : {};
}

function meaningOf({ description, enum: values }: Schema): string {
  if (description === undefined) throw new Error('a fact without a description');
  const words = [...new Set(values?.map(String))].join(', ');
  return words === '' ? description : `${description} (${words})`;
}
