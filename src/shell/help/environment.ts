import { join } from 'node:path';
import { SETTINGS, type Setting } from '../../settings/settings-table.ts';
import type { Paths } from '../../os/paths.ts';

/** A variable of the environment that devsh heeds. */
interface EnvironmentVariable {
  readonly name: string;
  readonly meaning: string;
}

interface EnvironmentGroup {
  readonly title: string;
  readonly variables: readonly EnvironmentVariable[];
}

/** Every variable that devsh reads, as `help environment`, man page and docs tell it. */
export const ENVIRONMENT: readonly EnvironmentGroup[] = [
  {
    title: 'Login',
    variables: [
      { name: 'DEVSH_TOKEN', meaning: 'the token for the devices; comes before the next two' },
      { name: 'DEVSH_USER', meaning: 'the account; a name only, when no password is there' },
      { name: 'DEVSH_PASSWORD', meaning: 'its password' },
      { name: 'NETBOX_TOKEN', meaning: 'the token for devices that are imported from NetBox' },
      { name: 'NETRC', meaning: 'the .netrc of devices that are configured to use one' },
      { name: 'SSH_CONNECTION', meaning: 'set over SSH: no question on the desktop is waited for' },
    ],
  },
  {
    title: 'Settings, before those of all files ("info --config")',
    variables: settingVariables(),
  },
  {
    title: 'Network',
    variables: [
      {
        name: 'https_proxy, HTTPS_PROXY',
        meaning: 'the proxy to the devices: http, https, socks5, socks5h',
      },
      { name: 'all_proxy, ALL_PROXY', meaning: 'the same, where neither of these is set' },
      { name: 'no_proxy, NO_PROXY', meaning: 'devices that are reached without it' },
      { name: 'NODE_EXTRA_CA_CERTS', meaning: 'a PEM file with further CAs to trust' },
    ],
  },
  {
    title: 'Colours and screen',
    variables: [
      { name: 'NO_COLOR', meaning: 'set and not empty: no colours; comes before the next three' },
      { name: 'FORCE_COLOR', meaning: '1, 2, 3: colours also where no terminal is; 0: none' },
      { name: 'CLICOLOR_FORCE', meaning: 'not 0: colours also where no terminal is' },
      { name: 'CLICOLOR', meaning: '0: no colours' },
      { name: 'TERM', meaning: '"dumb": no colours, and a prompt that only appends' },
      { name: 'COLORTERM', meaning: 'truecolor or 24bit: the themes with many colours' },
      { name: 'COLORFGBG', meaning: 'whether the background is light' },
      { name: 'REDUCE_MOTION', meaning: 'not 0: what changed does not fade by itself' },
      { name: 'INK_SCREEN_READER', meaning: 'true: a prompt that only appends' },
      { name: 'LC_ALL, LC_CTYPE, LANG', meaning: 'the locale that "doctor" shows' },
    ],
  },
  {
    title: 'Programs',
    variables: [
      {
        name: 'VISUAL, EDITOR',
        meaning: 'the editor of "user edit" and of the line (Ctrl-X Ctrl-E)',
      },
      {
        name: 'DEVSH_PAGER, PAGER',
        meaning: 'what shows output that is longer than the screen; "cat" or empty: nothing',
      },
      { name: 'LESS, LV', meaning: 'options of these pagers; FRX and -c when they are not set' },
      { name: 'BROWSER', meaning: 'the browser of "open"' },
      { name: 'SHELL', meaning: 'for which shell "completion" explains the set-up' },
    ],
  },
  {
    title: 'Scripts',
    variables: [
      {
        name: 'JOB_COMPLETION_INDEX',
        meaning: 'which part of "apply" this is, in a Kubernetes Job',
      },
    ],
  },
  {
    title: 'Files',
    variables: [
      { name: 'XDG_CONFIG_HOME', meaning: 'above devsh/: settings, inventory, profiles' },
      { name: 'XDG_DATA_HOME', meaning: 'above devsh/: pins of certificates, vault' },
      { name: 'XDG_STATE_HOME', meaning: 'above devsh/: history, journals of runs' },
      { name: 'XDG_CACHE_HOME', meaning: 'above devsh/: what can be had again' },
      { name: 'HOME', meaning: 'the folder that they are in otherwise' },
      { name: 'APPDATA, LOCALAPPDATA', meaning: 'the same on Windows' },
    ],
  },
];

/** What the exit status of a one-shot command means, as `help exit-codes`, man page and README tell it. */
export const EXIT_CODES: readonly { readonly code: string; readonly meaning: string }[] = [
  { code: '0', meaning: 'done, verified' },
  { code: '1', meaning: 'failed' },
  { code: '2', meaning: 'usage' },
  { code: '3', meaning: 'partial: some devices failed or are unknown' },
  { code: '4', meaning: 'authentication or credentials' },
  { code: '5', meaning: 'device unreachable, or its certificate not trusted' },
  { code: '6', meaning: 'refused: confirmation missing, read-only, own-access guard' },
  { code: '7', meaning: 'drift: the device changed since the plan' },
  { code: '8', meaning: '--drift found differences' },
  { code: '70', meaning: 'a bug in devsh' },
  { code: '130', meaning: 'ended by Ctrl-C' },
  { code: '143', meaning: 'ended by SIGTERM' },
];

/** The files that a user may want to look at, as the man page tells them. */
export const KEPT_FILES: readonly {
  readonly path: (paths: Paths) => string;
  readonly meaning: string;
}[] = [
  { path: ({ config }) => join(config, 'devices.yaml'), meaning: 'The inventory; yours to edit.' },
  { path: ({ config }) => join(config, 'settings.json'), meaning: 'The settings.' },
  { path: ({ config }) => join(config, 'profiles/'), meaning: 'How devices speak, in YAML.' },
  { path: ({ data }) => join(data, 'known-devices'), meaning: 'The pins of certificates.' },
  { path: ({ data }) => join(data, 'vault.age'), meaning: 'The vault, where there is one.' },
  { path: ({ state }) => join(state, 'history'), meaning: 'The lines typed before.' },
  {
    path: ({ state }) => join(state, 'last-session'),
    meaning: 'The lines that connected to devices; the next start offers them.',
  },
  { path: ({ state }) => join(state, 'runs/'), meaning: 'The journals of runs.' },
  {
    path: ({ cache }) => join(cache, '/'),
    meaning: 'What was learned, and the program as Node compiled it; to be had again.',
  },
];

/** Those that stand for an option that most lines may have come first. */
function settingVariables(): EnvironmentVariable[] {
  const rows = new Set<Setting>([SETTINGS.on, SETTINGS.format, ...Object.values(SETTINGS)]);
  return [...rows].flatMap(({ variable }) =>
    variable?.meaning === undefined ? [] : [{ name: variable.name, meaning: variable.meaning }],
  );
}
