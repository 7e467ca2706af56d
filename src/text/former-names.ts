const GIVEN_LOGIN =
  'keep the login with "devsh login", or give a credential_command, a program that prints it';

/** What to use instead of settings, and keys of devices.yaml, that devsh no longer has. */
const FORMER: Readonly<Record<string, string>> = {
  actions:
    'write it as an alias with a key: {"aliases": {"NAME": {"run": "LINE or !PROGRAM", "key": "X", "place": "table"}}}',
  baseline: 'name the file: user list --against FILE',
  git_credential: GIVEN_LOGIN,
  netrc: GIVEN_LOGIN,
  editing: 'the prompt has the keys of emacs, and Ctrl-X Ctrl-E opens its line in $EDITOR',
  keys: 'every key has one meaning (help keys); a line of your own gets a key as an alias',
  pager: 'pipe what you want to page into it: devsh user list --color always | less -R',
  mouse: 'devsh leaves the mouse to the terminal, which selects and copies with it',
};

/** `; …` for a setting that devsh no longer has; undefined for other names. */
export function insteadOfName(name: string): string | undefined {
  return Object.hasOwn(FORMER, name) ? `; ${FORMER[name] ?? ''}` : undefined;
}
