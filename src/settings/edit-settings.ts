import { SettingsError, UsageError } from '../errors.ts';
import { readText, writeTextAtomically } from '../os/files.ts';
import { withLock } from '../os/lock.ts';
import { inFile } from './settings.ts';
import { checkSettings } from './settings-schema.ts';

/** Whether the user's file at `path` sets `name`, whatever wins over it. Throws SettingsError for invalid JSON. */
export async function isInFile(path: string, name: string): Promise<boolean> {
  const text = await readText(path);
  return text !== undefined && Object.hasOwn(parsed(text, path), name);
}

/**
 * Replaces the user's settings by an edited text, unless it is invalid.
 *
 * @param before the text that was given to the editor; undefined: there was no file
 * @param check throws a UsageError for a value that must not be kept
 * @throws UsageError if the text is invalid; SettingsError if the file has changed meanwhile or cannot be written
 */
export async function replaceSettings(
  path: string,
  { text, before }: { readonly text: string; readonly before: string | undefined },
  check: (name: string, value: unknown) => void,
): Promise<void> {
  const settings = asMistake(() => parsed(text, 'settings.json'));
  asMistake(() => checkSettings(settings, 'settings.json'));
  for (const [name, value] of Object.entries(settings)) check(name, value);
  await withLock(path, async () => {
    if ((await readText(path)) !== before) {
      throw new SettingsError(
        `${path} was changed by another program meanwhile; nothing was saved: edit it again`,
      );
    }
    await writeTextAtomically(path, text);
  });
}

function parsed(text: string, file: string): object {
  const data = inFile(file, 'read', () => JSON.parse(text) as unknown);
  if (typeof data === 'object' && data !== null && !Array.isArray(data)) return data;
  throw new SettingsError(`${file} must be one JSON object: {"theme": "light"}`);
}

/** The user can correct the text: a mistake in it is no damaged file. */
function asMistake<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    throw new UsageError(error.message, { cause: error });
  }
}
