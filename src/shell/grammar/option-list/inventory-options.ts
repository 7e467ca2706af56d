import { SOURCE_KINDS } from '../../../fleet/import/source-kind.ts';
import type { OptionSpec } from '../options.ts';
import { filledOf, sourceKindOf } from '../option-values.ts';

/** The inventory and where it comes from. */
export const INVENTORY_OPTIONS: readonly OptionSpec[] = [
  {
    name: 'group',
    value: 'GROUP',
    summary: 'Put the device into this group (repeatable)',
    group: 'device',
    set: (options, text) => ({ ...options, groups: [...options.groups, filledOf(text)] }),
  },
  {
    name: 'from',
    value: 'KIND',
    summary: `What the source is, where it cannot be seen: ${SOURCE_KINDS.join(', ')}`,
    group: 'source',
    choices: SOURCE_KINDS,
    set: (options, text) => ({ ...options, from: sourceKindOf(text) }),
  },
  {
    name: 'ansible',
    summary: 'As a dynamic inventory of Ansible (JSON)',
    group: 'ansible',
    set: (options) => ({ ...options, ansible: true }),
  },
  {
    name: 'list',
    summary: 'With --ansible: the whole inventory, as Ansible asks for it',
    group: 'ansible',
    set: (options) => options,
  },
  {
    name: 'host',
    value: 'NAME',
    summary: 'With --ansible: the variables of one device only',
    group: 'ansible',
    set: (options, text) => ({ ...options, host: text }),
  },
  {
    name: 'config',
    summary: 'Each setting, and where its value comes from',
    group: 'info',
    set: (options) => ({ ...options, config: true }),
  },
];
