import { join } from 'node:path';
import { SETTING_ROWS, SETTINGS, type Setting } from '../../settings/settings-table.ts';
import { originText } from '../../settings/settings.ts';
import type { Given } from '../grammar/options.ts';
import type { Services } from '../services.ts';
import type { Paths } from '../../os/environment.ts';

/** What is explained, and what it means. */
type Explained = readonly [name: string, meaning: string];

/** Every variable that devsh reads, as `help environment`, man page and docs tell it. */
export const ENVIRONMENT: readonly { title: string; variables: readonly Explained[] }[] = [
  {
    title: 'Login',
    variables: [
      ['DEVSH_TOKEN', 'the token for the devices; comes before the next two'],
      ['DEVSH_USER', 'the account; a name only, when no password is there'],
      ['DEVSH_PASSWORD', 'its password'],
      ['NETBOX_TOKEN', 'the token for devices that are imported from NetBox'],
      ['NETRC', 'the .netrc of devices that are configured to use one'],
      ['SSH_CONNECTION', 'set over SSH: no question on the desktop is waited for'],
    ],
  },
  {
    title: 'Settings, before those of all files ("info --config")',
    variables: settingVariables(),
  },
  {
    title: 'Network',
    variables: [
      ['https_proxy, HTTPS_PROXY', 'the proxy to the devices: http, https, socks5, socks5h'],
      ['all_proxy, ALL_PROXY', 'the same, where neither of these is set'],
      ['no_proxy, NO_PROXY', 'devices that are reached without it'],
      ['NODE_EXTRA_CA_CERTS', 'a PEM file with further CAs to trust'],
    ],
  },
  {
    title: 'Colours and screen',
    variables: [
      ['NO_COLOR', 'set and not empty: no colours; comes before the next three'],
      ['FORCE_COLOR', '1, 2, 3: colours also where no terminal is; 0: none'],
      ['CLICOLOR_FORCE', 'not 0: colours also where no terminal is'],
      ['CLICOLOR', '0: no colours'],
      ['TERM', '"dumb": no colours, and a prompt that only appends'],
      ['COLORTERM', 'truecolor or 24bit: the themes with many colours'],
      ['COLORFGBG', 'whether the background is light'],
      ['REDUCE_MOTION', 'not 0: what changed does not fade by itself'],
      ['INK_SCREEN_READER', 'true: a prompt that only appends'],
      ['LC_ALL, LC_CTYPE, LANG', 'the locale that "doctor" shows'],
    ],
  },
  {
    title: 'Programs',
    variables: [
      ['VISUAL, EDITOR', 'the editor of "user edit" and of the line (Ctrl-X Ctrl-E)'],
      [
        'DEVSH_PAGER, PAGER',
        'what shows output that is longer than the screen; "cat" or empty: nothing',
      ],
      ['LESS, LV', 'options of these pagers; FRX and -c when they are not set'],
      ['BROWSER', 'the browser of "open"'],
      ['SHELL', 'for which shell "completion" explains the set-up'],
    ],
  },
  {
    title: 'Scripts',
    variables: [['JOB_COMPLETION_INDEX', 'which part of "apply" this is, in a Kubernetes Job']],
  },
  {
    title: 'Files',
    variables: [
      ['XDG_CONFIG_HOME', 'above devsh/: settings, inventory, profiles'],
      ['XDG_DATA_HOME', 'above devsh/: pins of certificates, vault'],
      ['XDG_STATE_HOME', 'above devsh/: history, journals of runs'],
      ['XDG_CACHE_HOME', 'above devsh/: what can be had again'],
      ['HOME', 'the folder that they are in otherwise'],
      ['APPDATA, LOCALAPPDATA', 'the same on Windows'],
    ],
  },
];

/** What the exit status of a one-shot command means, as `help exit-codes`, man page and README tell it. */
export const EXIT_CODES: readonly Explained[] = [
  ['0', 'done, verified'],
  ['1', 'failed'],
  ['2', 'usage'],
  ['3', 'partial: some devices failed or are unknown'],
  ['4', 'authentication or credentials'],
  ['5', 'device unreachable, or its certificate not trusted'],
  ['6', 'refused: confirmation missing, read-only, own-access guard'],
  ['7', 'drift: the device changed since the plan'],
  ['8', '--drift found differences'],
  ['70', 'a bug in devsh'],
  ['130', 'ended by Ctrl-C'],
  ['143', 'ended by SIGTERM'],
];

/** The files that a user may want to look at, as the man page tells them. */
export const KEPT_FILES: readonly (readonly [(paths: Paths) => string, meaning: string])[] = [
  [({ config }) => join(config, 'devices.yaml'), 'The inventory; yours to edit.'],
  [({ config }) => join(config, 'settings.json'), 'The settings.'],
  [({ config }) => join(config, 'profiles/'), 'How devices speak, in YAML.'],
  [({ data }) => join(data, 'known-devices'), 'The pins of certificates.'],
  [({ data }) => join(data, 'vault.age'), 'The vault, where there is one.'],
  [({ state }) => join(state, 'history'), 'The lines typed before.'],
  [
    ({ state }) => join(state, 'last-session'),
    'The lines that connected to devices; the next start offers them.',
  ],
  [({ state }) => join(state, 'runs/'), 'The journals of runs.'],
  [
    ({ cache }) => join(cache, '/'),
    'What was learned, and the program as Node compiled it; to be had again.',
  ],
];

/** Those that stand for an option that most lines may have come first. */
function settingVariables(): Explained[] {
  const rows = new Set<Setting>([SETTINGS.on, SETTINGS.format, ...Object.values(SETTINGS)]);
  return [...rows].flatMap(({ variable }) =>
    variable?.meaning === undefined ? [] : [[variable.name, variable.meaning]],
  );
}

/** Each setting with where its value comes from, for a line with these options: `flag`, a variable, `file:line`, `default`. */
export function configRows(
  { settings, inventory }: Services,
  given: Given,
): Record<'setting' | 'value' | 'origin', string>[] {
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
