/** What to use instead of settings that devsh no longer has. */
const FORMER: Readonly<Record<string, string>> = {
  editing: 'the prompt has the keys of emacs, and Ctrl-X Ctrl-E opens its line in $EDITOR',
};

/** `; …` for a setting that devsh no longer has; undefined for other names. */
export function insteadOfName(name: string): string | undefined {
  return Object.hasOwn(FORMER, name) ? `; ${FORMER[name] ?? ''}` : undefined;
}
