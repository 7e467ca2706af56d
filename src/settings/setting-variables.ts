import type { SettingName } from './settings.ts';

interface SettingVariable {
  readonly variable: string;
  readonly setting: SettingName;
  /** What the schema is to check. */
  readonly read: (text: string) => unknown;
}

/** The variables that stand for a setting, as the option of the same name does. */
export const SETTING_VARIABLES: readonly SettingVariable[] = [
  { variable: 'DEVSH_ON', setting: 'on', read: (text) => text },
  { variable: 'DEVSH_FORMAT', setting: 'format', read: (text) => text },
  { variable: 'DEVSH_TIMEOUT', setting: 'timeoutMs', read: (text) => Number(text) * 1000 },
  { variable: 'DEVSH_CONCURRENCY', setting: 'concurrency', read: Number },
  { variable: 'DEVSH_READ_ONLY', setting: 'readOnly', read: flag },
  { variable: 'DEVSH_INVENTORY', setting: 'inventory', read: (text) => text },
  { variable: 'DEVSH_PAGER', setting: 'pager', read: (text) => text },
  { variable: 'DEVSH_THEME', setting: 'theme', read: (text) => text },
];

function flag(text: string): unknown {
  if (/^(?:1|true|yes)$/i.test(text)) return true;
  return /^(?:0|false|no)$/i.test(text) ? false : text;
}
