import { originText, type SettingName } from '../../settings/settings.ts';
import type { Options } from '../grammar/options.ts';
import type { Services } from '../session.ts';

/** What holds where nothing is set, for settings that have no default of their own. */
const DEFAULTS: Readonly<Partial<Record<SettingName, string>>> = {
  timeoutMs: '10000',
  concurrency: '128 for reads, 1 for writes',
  on: 'the devices that are connected',
  format: 'table',
  readOnly: 'false',
  inventory: 'devices.yaml',
  theme: 'by the terminal',
};

/** The options that stand for a setting, and what they say. */
const FLAGS: Readonly<Partial<Record<SettingName, (options: Options) => unknown>>> = {
  timeoutMs: ({ timeoutMs }) => timeoutMs,
  concurrency: ({ concurrency }) => concurrency,
  on: ({ on }) => (on.length > 0 ? on.join(' ') : undefined),
  format: ({ format }) => format,
  readOnly: ({ readOnly }) => (readOnly ? true : undefined),
  theme: ({ theme }) => theme,
};

export interface ConfigRow {
  readonly setting: string;
  readonly value: string;
  /** `flag`, a variable, `file:line`, or `default`. */
  readonly origin: string;
}

/** Each setting with where its value comes from, for a line with these options. */
export async function configRows(
  { settings, inventory }: Services,
  given: Options,
): Promise<ConfigRow[]> {
  const { SETTING_NAMES } = await import('../../settings/settings-schema.ts');
  return SETTING_NAMES.map((setting) => {
    const said = FLAGS[setting]?.(given);
    if (said !== undefined) return { setting, value: valueText(said), origin: 'flag' };
    const value = setting === 'inventory' ? inventory.path : settings.get(setting);
    const text = value === undefined ? (DEFAULTS[setting] ?? '') : valueText(value);
    return { setting, value: text, origin: originText(settings.origin(setting)) };
  });
}

function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
