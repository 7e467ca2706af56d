import { join } from 'node:path';
import type Conf from 'conf';
import * as z from 'zod';
import { SettingsError } from '../errors.ts';
import { THEME_NAMES } from '../theme-names.ts';
import { suggest } from '../suggest.ts';
import { errorCode, fileError, makePrivateFolder, readText } from './files.ts';
import { withLock } from './lock.ts';
import type { Paths } from './paths.ts';

const valuesSchema = z.strictObject({
  /** How long an answer may take. */
  timeoutMs: z.int().min(1).max(3_600_000).optional(),
  /** How many devices are written to at a time. */
  concurrency: z.int().min(1).max(1_000).optional(),
  /** How many lines of history are kept; 0 keeps none. */
  historySize: z.int().min(0).max(1_000_000).optional(),
  /** Whether to ask before a credential goes to the keychain, or never to store one. */
  saveCredentials: z.enum(['ask', 'never']).default('ask'),
  /** Whether the keys of records are kept from session to session, for completion. */
  rememberKeys: z.boolean().default(true),
  /** The looks of the full screen, where `--theme` says nothing. */
  theme: z.enum(THEME_NAMES).optional(),
  /** By profile and resource (`drf/user`): the fields that a list shows on a screen. */
  columns: z.record(z.string(), z.array(z.string()).readonly()).optional(),
  /** By place and action: the keys on the full screen, as in `{"table": {"delete": ["x"]}}`. */
  keys: z
    .record(z.string(), z.record(z.string(), z.array(z.string().min(1)).readonly()))
    .optional(),
  /** Which keys edit the line at the prompt. */
  editing: z.enum(['emacs', 'vi']).default('emacs'),
});

/** What the user has set, as checked; what is absent is decided where it is used. */
export type SettingsValues = Readonly<z.infer<typeof valuesSchema>>;
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

/**
 * Reads the settings. A file that cannot be understood is a SettingsError that names it; it is never
 * overwritten. conf is loaded only when there is a file to read or to write: it costs start-up time.
 */
export async function openSettings(paths: Paths): Promise<Settings> {
  const path = join(paths.config, `${FILE}.json`);
  const hasFile = (await readText(path)) !== undefined;
  let values = check(hasFile ? await readStore(paths, path) : {}, path);
  const settings: Settings = {
    path,
    get: (name) => values[name],
    async set(name, value) {
      check({ [name]: value }, path);
      await settings.change(name, () => value);
    },
    async change(name, change) {
      await withLock(path, async () => {
        const store = await openStore(paths, path);
        const held = check(
          inFile(path, 'read', () => store.store),
          path,
        );
        const value = change(held[name]);
        inFile(path, 'write', () => {
          if (value === undefined) store.delete(name);
          else store.set(name, value);
        });
        values = check(store.store, path);
      });
    },
  };
  return settings;
}

type Store = Conf;

async function readStore(paths: Paths, path: string): Promise<unknown> {
  const store = await openStore(paths, path);
  return inFile(path, 'read', () => store.store);
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

function check(data: unknown, path: string): SettingsValues {
  const result = valuesSchema.safeParse(data);
  if (result.success) return result.data;
  const problems = result.error.issues.map((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map(unknownSetting).join('; ')
      : `${issue.path.join('.') || 'the file'}: ${issue.message}`,
  );
  throw new SettingsError(`${path}: ${problems.join('; ')}`);
}

function unknownSetting(name: string): string {
  const [meant] = suggest(name, Object.keys(valuesSchema.shape));
  return `unknown setting "${name}"${meant === undefined ? '' : `, did you mean "${meant}"?`}`;
}
