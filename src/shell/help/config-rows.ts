import { SETTING_ROWS } from '../../settings/settings-table.ts';
import { originText } from '../../settings/settings.ts';
import type { Given } from '../grammar/options.ts';
import type { Services } from '../session.ts';

export interface ConfigRow {
  readonly setting: string;
  readonly value: string;
  /** `flag`, a variable, `file:line`, or `default`. */
  readonly origin: string;
}

/** Each setting with where its value comes from, for a line with these options. */
export function configRows({ settings, inventory }: Services, given: Given): ConfigRow[] {
  const options: Readonly<Record<string, unknown>> = { ...given };
  return SETTING_ROWS.map(([setting, { hasOption, otherwise = '' }]) => {
    const option = hasOption && options[setting];
    const said = Array.isArray(option) ? option.join(' ') : option;
    if (said) return { setting, value: valueText(said), origin: 'flag' };
    const value = setting === 'inventory' ? inventory.path : settings.get(setting);
    const text = value === undefined ? otherwise : valueText(value);
    return { setting, value: text, origin: originText(settings.origin(setting)) };
  });
}

function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
