import { maskedValue } from '../device/secret-fields.ts';
import type { DriftCell, DriftRow } from '../fleet/drift.ts';
import type { DriftOutput } from '../shell/output.ts';
import type { JsonObject } from './json.ts';

/** The key `drift` of `--json`: what was compared, and every record that is not the same on all devices. */
export function driftObject(output: DriftOutput): JsonObject {
  const { drift, resource } = output;
  return {
    resource,
    key: drift.keyField,
    devices: drift.devices.map(({ name }) => name),
    same: drift.rows.filter(({ isSame }) => isSame).length,
    different: driftObjects(output),
  };
}

/** One object for each record that is not the same on all devices. */
export function driftObjects({ drift, resource }: DriftOutput): JsonObject[] {
  const names = drift.devices.map(({ name }) => name);
  return drift.rows
    .filter(({ isSame }) => !isSame)
    .map((row) => ({
      resource,
      key: row.key,
      devices: [
        ...row.cells.map((cell, index) => cellObject(names[index] ?? '', cell)),
        ...drift.unread.map(({ name }) => ({ device: name, state: 'not read' })),
      ],
      fields: row.fields.map(fieldObject),
    }));
}

function cellObject(device: string, cell: DriftCell): JsonObject {
  return {
    device,
    state: cell.kind,
    fields: cell.kind === 'differs' ? cell.fields : undefined,
  };
}

function fieldObject({ field, values }: DriftRow['fields'][number]): JsonObject {
  return {
    field,
    values: values.map(({ value, devices }) => ({
      value: value === undefined ? undefined : maskedValue(field, value),
      devices,
    })),
  };
}
