import { SETTING_ROWS, SETTINGS, type Setting } from '../../settings/settings-table.ts';
import { originText } from '../../settings/settings.ts';
import { maskedText } from '../grammar/hide-secrets.ts';
import type { Given } from '../grammar/options.ts';
import type { Services } from '../services.ts';

type Explained = readonly [name: string, meaning: string];

/** Every variable that devsh reads, for `help environment`, man page and docs. */
export const ENVIRONMENT: readonly { title: string; variables: readonly Explained[] }[] = [
  {
    title: 'Login',
    variables: [
      ['DEVSH_TOKEN', 'the token for the devices; wins over the next two'],
      ['DEVSH_USER', 'the account; without DEVSH_PASSWORD only its name'],
      ['DEVSH_PASSWORD', 'its password'],
      ['SSH_CONNECTION', 'set over SSH: devsh does not wait for a question on the desktop'],
    ],
  },
  { title: 'Settings; they win over all files ("config list")', variables: settingVariables() },
  {
    title: 'Network',
    variables: [
      ['https_proxy, HTTPS_PROXY', 'the proxy to the devices: http, https, socks5, socks5h'],
      ['all_proxy, ALL_PROXY', 'the same, if neither of these is set'],
      ['no_proxy, NO_PROXY', 'devices that devsh reaches without it'],
      ['NODE_EXTRA_CA_CERTS', 'a PEM file with more CAs to trust'],
    ],
  },
  {
    title: 'Colours and screen',
    variables: [
      ['NO_COLOR', 'set and not empty: no colours; wins over the next three'],
      ['FORCE_COLOR', '1, 2, 3: colours also without a terminal; 0: none'],
      ['CLICOLOR_FORCE', 'not 0: colours also without a terminal'],
      ['CLICOLOR', '0: no colours'],
      ['TERM', '"dumb": no colours, and a prompt that only appends'],
      ['COLORTERM', 'truecolor or 24bit: themes with many colours'],
      ['COLORFGBG', 'whether the background is light'],
      ['REDUCE_MOTION', 'not 0: changes do not fade'],
      ['INK_SCREEN_READER', 'true: a prompt that only appends'],
      ['LC_ALL, LC_CTYPE, LANG', 'the locale that "doctor" shows'],
    ],
  },
  {
    title: 'Programs and scripts',
    variables: [
      ['VISUAL, EDITOR', 'the editor of the line (Ctrl-X Ctrl-E)'],
      ['SHELL', 'the shell for which "completion" explains the set-up'],
    ],
  },
  {
    title: 'Files',
    variables: [
      ['XDG_CONFIG_HOME', 'above devsh/: settings, inventory, profiles'],
      ['XDG_DATA_HOME', 'above devsh/: pins of certificates, vault'],
      ['XDG_STATE_HOME', 'above devsh/: history, journals of runs'],
      ['XDG_CACHE_HOME', 'above devsh/: files that devsh can recreate'],
      ['HOME', 'the folder used otherwise'],
      ['LOGNAME, USER', 'your name in journals, if your uid has no account'],
      ['APPDATA, LOCALAPPDATA', 'the same on Windows'],
    ],
  },
];

/** The meanings of the exit status of a one-shot command, for `help exit-codes`, man page and README. */
export const EXIT_CODES: readonly Explained[] = [
  ['0', 'done, verified'],
  ['1', 'failed'],
  ['2', 'usage'],
  ['3', 'partial: some devices failed or are unknown'],
  ['4', 'authentication or credentials'],
  ['5', 'device unreachable, or its certificate not trusted'],
  ['6', 'refused: confirmation missing, read-only, own-access guard'],
  ['7', 'drift: the device changed since the plan'],
  ['8', '--drift or --against found differences'],
  ['69', 'this Node.js is too old'],
  ['70', 'a bug in devsh'],
  ['130', 'ended by Ctrl-C'],
  ['143', 'ended by SIGTERM'],
];

/** Returns the variables of settings, first those for options that most lines may have. */
function settingVariables(): Explained[] {
  const rows = new Set<Setting>([SETTINGS.on, SETTINGS.format, ...Object.values(SETTINGS)]);
  return [...rows].flatMap(({ variable }) =>
    variable?.meaning === undefined ? [] : [[variable.name, variable.meaning]],
  );
}

/** Each setting with the origin of its value in a line with these options: flag, variable, `file:line` or default. */
export function configRows(
  { settings, inventory }: Services,
  given: Given,
): Record<'setting' | 'value' | 'origin', string>[] {
  const options: Readonly<Record<string, unknown>> = { ...given };
  return SETTING_ROWS.map(([setting, { hasOption, otherwise = '' }]) => {
    const option = hasOption && options[setting];
    const said = Array.isArray(option) ? option.join(' ') : option;
    if (said) return { setting, value: valueText(withoutSecrets(said)), origin: 'flag' };
    const value = setting === 'inventory' ? inventory.path : withoutSecrets(settings.get(setting));
    const text = value === undefined ? otherwise : valueText(value);
    return { setting, value: text, origin: originText(settings.origin(setting)) };
  });
}

/** Masks the secrets in a value of JSON: the user may keep one in a file or variable, where devsh would not. */
export function withoutSecrets<Value>(value: Value): Value {
  if (value === undefined) return value;
  return JSON.parse(
    JSON.stringify(value, (_name, part: unknown) =>
      typeof part === 'string' ? maskedText(part) : part,
    ),
  ) as Value;
}

function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
