import { profileJsonSchema } from '../../src/device/profile-schema.ts';
import { inventoryJsonSchema } from '../../src/fleet/inventory-schema.ts';
import { settingsJsonSchema } from '../../src/settings/settings-schema.ts';
import { table } from './table.ts';

interface Schema {
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly (string | boolean)[];
  readonly default?: unknown;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
}

/** The facts of a profile file. `create`, `update` and `remove` have the same ones: they stand once. */
export function profileFacts(): string {
  const rows = (schema: Schema, path: string): string[][] =>
    Object.entries(schema.properties ?? {}).flatMap(([name, fact]) => {
      const own = [`\`${path}${name}\``, meaningOf(fact)];
      const inner = fact.additionalProperties;
      const isKnown = /update$|^remove$/.test(name);
      if (isKnown) return [own];
      if (typeof inner === 'object' && inner.properties !== undefined) {
        return [own, ...rows(inner, `${path}${name}.NAME.`)];
      }
      return [own, ...rows(fact, `${path}${name}.`)];
    });
  return table(['fact', 'meaning'], rows(profileJsonSchema() as Schema, ''));
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
  return values === undefined ? description : `${description} (${values.join(', ')})`;
}
