import { DEVICE_OPTIONS } from './option-list/device-options.ts';
import { FILE_OPTIONS } from './option-list/file-options.ts';
import { GENERAL_OPTIONS } from './option-list/general-options.ts';
import { INVENTORY_OPTIONS } from './option-list/inventory-options.ts';
import { PLAN_OPTIONS } from './option-list/plan-options.ts';
import { SIMULATOR_OPTIONS } from './option-list/simulator-options.ts';
import { TABLE_OPTIONS } from './option-list/table-options.ts';
import { WRITE_OPTIONS } from './option-list/write-options.ts';
import type { OptionSpec } from './options.ts';

/** Every option there is, in the order of the help. */
export const OPTIONS: readonly OptionSpec[] = [
  ...GENERAL_OPTIONS,
  ...DEVICE_OPTIONS,
  ...TABLE_OPTIONS,
  ...WRITE_OPTIONS,
  ...PLAN_OPTIONS,
  ...FILE_OPTIONS,
  ...INVENTORY_OPTIONS,
  ...SIMULATOR_OPTIONS,
];

/** `--name` or `-n` as it is typed. */
export function optionLabel(spec: OptionSpec): string {
  const { value: name } = spec;
  const value = name === undefined ? '' : spec.isValueOptional === true ? `[=${name}]` : ` ${name}`;
  return `${spec.short === undefined ? '' : `-${spec.short}, `}--${spec.name}${value}`;
}
