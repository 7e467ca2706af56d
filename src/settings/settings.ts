import { join } from 'node:path';
import type Conf from 'conf';
import { SettingsError } from '../errors.ts';
import { errorCode, fileError, makePrivateFolder, readText } from './files.ts';
import { withLock } from './lock.ts';
import type { Paths } from './paths.ts';
import type { SettingsValues } from './settings-schema.ts';

export type { SettingsValues } from './settings-schema.ts';
export type SettingName = keyof SettingsValues;

/** The settings of this user, kept in `settings.json`. */
export interface Settings {
  readonly path: string;
  get<Name extends SettingName>(name: Name): SettingsValues[Name];
  /** Writes one setting; `undefined` takes it out of the file. */
  set<Name extends SettingName>(name: Name, value: SettingsValues[Name] | undefined): Promise<void>;
  /** The same with what the file holds by now, which another session may have written. */
  change<Name extends SettingName>(
    name: Name,
    change: (value: SettingsValues[Name]) => SettingsValues[Name] | undefined,
  ): Promise<void>;
}

const FILE = 'settings';

/** What holds where nothing is set; the schema says the same. */
const UNSET: SettingsValues = {
  saveCredentials: 'ask',
  rememberKeys: true,
  reduceMotion: false,
  editing: 'emacs',
};

/**
 * Reads the settings. A file that cannot be understood is a SettingsError that names it; it is never
 * overwritten. conf and zod are loaded only when there is a file to read or to write: they cost start-up time.
 */
export async function openSettings(paths: Paths): Promise<Settings> {
  const path = join(paths.config, `${FILE}.json`);
  const hasFile = (await readText(path)) !== undefined;
  let values = hasFile ? await readStore(paths, path) : UNSET;
  const settings: Settings = {
    path,
    get: (name) => values[name],
    async set(name, value) {
      const { checkSettings } = await import('./settings-schema.ts');
      checkSettings({ [name]: value }, path);
      await settings.change(name, () => value);
    },
    async change(name, change) {
      const { checkSettings } = await import('./settings-schema.ts');
      await withLock(path, async () => {
        const store = await openStore(paths, path);
        const held = checkSettings(
          inFile(path, 'read', () => store.store),
          path,
        );
        const value = change(held[name]);
        inFile(path, 'write', () => {
          if (value === undefined) store.delete(name);
          else store.set(name, value);
        });
        values = checkSettings(store.store, path);
      });
    },
  };
  return settings;
}

type Store = Conf;

async function readStore(paths: Paths, path: string): Promise<SettingsValues> {
  const store = await openStore(paths, path);
  const content: unknown = inFile(path, 'read', () => store.store);
  const { checkSettings } = await import('./settings-schema.ts');
  return checkSettings(content, path);
}

async function openStore(paths: Paths, path: string): Promise<Store> {
  await makePrivateFolder(paths.config); // conf would let others look into it
  const { default: Conf } = await import('conf');
  return inFile(
    path,
    'read',
    () =>
      new Conf({
        cwd: paths.config,
        configName: FILE,
        configFileMode: 0o600,
        projectSuffix: '',
        accessPropertiesByDotNotation: false,
        clearInvalidConfig: false,
      }),
  );
}

/** conf reads and writes synchronously, and throws what Node and JSON.parse throw. */
function inFile<T>(path: string, action: 'read' | 'write', work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (errorCode(error) !== undefined) throw fileError(action, path, error);
    const reason = error instanceof SyntaxError ? ` (${error.message})` : '';
    throw new SettingsError(`${path} is not valid JSON${reason}; correct or remove the file`, {
      cause: error,
    });
  }
}
