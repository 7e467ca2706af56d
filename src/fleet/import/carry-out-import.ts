import { SettingsError } from '../../errors.ts';
import { InventoryDocument } from '../inventory-document.ts';
import { parseInventory, readInventory } from '../inventory-text.ts';
import type { ImportPlan } from './import-plan.ts';

/**
 * The text of `devices.yaml` with all that the plan says; comments and order stay. Throws a SettingsError
 * when the text has changed since, or cannot be edited in this way.
 */
export function carryOutImport(text: string, plan: ImportPlan, file: string): string {
  const { written } = readInventory(text, file);
  const indexes = new Map(written.devices.map(({ name }, index) => [name.toLowerCase(), index]));
  const document = new InventoryDocument(text);
  for (const { name, changes } of plan.groups) {
    const known = written.groups.find((group) => group.name.toLowerCase() === name.toLowerCase());
    const own = known?.name ?? name;
    document.addGroup(own);
    for (const { key, after } of changes) document.set(['groups', own], key, after);
  }
  for (const step of plan.steps) {
    if (step.action === 'add') {
      document.add(step.device);
      continue;
    }
    const index = indexes.get(step.name.toLowerCase());
    if (index === undefined) {
      throw new SettingsError(`${file} no longer lists ${step.name}; import once more`);
    }
    for (const { key, after } of step.changes) document.set(['devices', index], key, after);
  }
  const edited = document.toString();
  parseInventory(edited, file);
  return edited;
}
