import { SETTINGS } from '../../settings/settings-table.ts';

/** A variable of the environment that devsh heeds. */
export interface EnvironmentVariable {
  readonly name: string;
  readonly meaning: string;
}

export interface EnvironmentGroup {
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
    variables: (
      ['on', 'format', 'timeoutMs', 'concurrency', 'readOnly', 'inventory', 'theme'] as const
    ).map((setting) => SETTINGS[setting].variable),
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
