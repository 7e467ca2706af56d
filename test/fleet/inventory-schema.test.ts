import { expect, test } from 'vitest';
import { inventoryJsonSchema } from '../../src/fleet/inventory-schema.ts';

interface Schema {
  readonly type?: unknown;
  readonly description?: string;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
}

test('describes devices.yaml for editors, with the types of their YAML schema', () => {
  const { devices, groups } = (inventoryJsonSchema() as Schema).properties ?? {};
  const device = devices?.items;
  expect(device?.required).toEqual(['name', 'address']);
  expect(device?.additionalProperties).toBe(false);
  expect(device?.properties?.['insecure']?.type).toBe('boolean');
  expect(device?.properties?.['name']?.type).toContain('number');
  const group = groups?.additionalProperties as Schema;
  expect(group.properties).toHaveProperty('children');
  expect(group.properties).not.toHaveProperty('address');
});

test('explains every key', () => {
  const device = (inventoryJsonSchema() as Schema).properties?.['devices']?.items;
  const silent = Object.entries(device?.properties ?? {}).filter(([, key]) => !key.description);
  expect(silent.map(([name]) => name)).toEqual([]);
});
