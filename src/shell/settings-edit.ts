import { withComplaint, withoutComplaint } from '../change/record-text.ts';
import { RefusedError, SettingsError, UsageError } from '../errors.ts';
import { replaceSettings } from '../settings/edit-settings.ts';
import type { Call } from './command.ts';
import { hideSecrets } from './grammar/hide-secrets.ts';
import { info, type Output, success } from './output.ts';
import { readText } from '../os/files.ts';

const NEW_FILE = '{\n}\n';

/** `config edit`: the user's settings as text in an editor, until they are valid or left as they are. */
export async function* editSettings({ io, shell }: Call): AsyncGenerator<Output> {
  if (io.edit === undefined) {
    throw new RefusedError(
      'config edit needs a terminal for the editor; in a script use "config set"',
    );
  }
  const { settings } = shell.services;
  const before = await readText(settings.path);
  let shown = before ?? NEW_FILE;
  let mistaken: string | undefined;
  for (;;) {
    const text = await io.edit({ text: shown, name: 'settings.json' });
    const edited = withoutComplaint(text);
    if (edited === (before ?? NEW_FILE)) {
      yield info('nothing was changed');
      return;
    }
    if (edited.trim() === '') throw new RefusedError('the text was emptied: nothing was changed');
    try {
      await replaceSettings(settings.path, { text: edited, before }, refuseSecrets);
      break;
    } catch (error) {
      // A file that another session has changed, or that cannot be written, is no mistake in the text.
      if (!(error instanceof UsageError)) throw error;
      if (edited === mistaken) {
        throw new SettingsError(
          `the mistake is still there: nothing was changed (${error.message})`,
        );
      }
      mistaken = edited;
      shown = withComplaint(edited, error.message);
    }
  }
  yield success(`${settings.path} is changed; it applies from the next start at the latest`);
}

/** Throws a UsageError if a value of a setting contains a secret. */
export function refuseSecrets(name: string, value: unknown, column?: number): void {
  if (typeof value === 'string') {
    if (hideSecrets(value) !== value) throw keepsNoSecret(name, column);
  } else if (typeof value === 'object' && value !== null) {
    for (const part of Object.values(value)) refuseSecrets(name, part, column);
  }
}

function keepsNoSecret(name: string, column?: number): UsageError {
  return new UsageError(
    `${name} contains a secret, and devsh keeps no secrets in settings: "login --to keychain" or "vault" keeps logins`,
    { column },
  );
}
