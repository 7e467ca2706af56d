import { dirname, join } from 'node:path';
import { SettingsError } from '../errors.ts';
import {
  errorCode,
  fileError,
  fileExists,
  ForeignFileError,
  ignoreFileError,
  makePrivateFolder,
  readText,
  refuseLink,
} from '../os/files.ts';
import { withLock } from '../os/lock.ts';
import { passwordSpan } from '../text/one-line.ts';
import { editDistance } from '../text/suggest.ts';
import { CachedFile } from './cache.ts';
import type { Paths } from '../os/environment.ts';
import { SETTING_ROWS, type SettingName, type SettingsValues } from './settings-table.ts';

const PROJECT_FILE = '.devsh.json';
/** The others are logins, and values for scripts. */
const MAY_BE_A_SETTING = /^DEVSH_(?!TOKEN$|USER$|PASSWORD$|VAR_)/i;
/** A longer file is not one of devsh. */
const MAX_LENGTH = 64 * 1024;

interface ProjectFile {
  readonly path: string;
  readonly text: string;
}

/** The nearest `.devsh.json` in or above `folder`, or why it is ignored: in /tmp anyone can create one. */
async function findProjectFile(
  folder: string,
): Promise<ProjectFile | ForeignFileError | undefined> {
  const path = join(folder, PROJECT_FILE);
  // What is in a folder that this user cannot look into means nothing here.
  if ((await fileExists(path).catch(ignoreFileError)) === true) {
    const text = await readText(path).catch((error: unknown) => {
      if (error instanceof ForeignFileError) return error;
      throw error;
    });
    if (text instanceof ForeignFileError) return text;
    if (text !== undefined && text.length > MAX_LENGTH)
      throw new SettingsError(`${path} is too large for a settings file`);
    if (text !== undefined) return { path, text };
  }
  return dirname(folder) === folder ? undefined : findProjectFile(dirname(folder));
}

type SettingOrigin =
  | { readonly kind: 'environment'; readonly variable: string }
  | { readonly kind: 'project' | 'user'; readonly path: string; readonly line: number }
  | { readonly kind: 'default' };

/** `DEVSH_TIMEOUT`, `/home/me/project/.devsh.json:3`, `default`. */
export function originText(origin: SettingOrigin): string {
  if (origin.kind === 'environment') return origin.variable;
  return origin.kind === 'default' ? 'default' : `${origin.path}:${origin.line}`;
}

/** The effective settings, and access to those of this user in `settings.json`. */
export interface Settings {
  readonly path: string;
  /** A remark about an ignored file; undefined if there is none. */
  readonly remark: string | undefined;
  get<Name extends SettingName>(name: Name): SettingsValues[Name];
  origin(name: SettingName): SettingOrigin;
  /** Writes one setting; `undefined` removes it from the file. */
  set<Name extends SettingName>(name: Name, value: SettingsValues[Name] | undefined): Promise<void>;
  /** The same, based on the current value in the file, which another session may have written. */
  change<Name extends SettingName>(
    name: Name,
    change: (value: SettingsValues[Name]) => SettingsValues[Name] | undefined,
  ): Promise<void>;
}

const FILE = 'settings';

/** The sources of settings besides the user's own file; empty for the demo. */
interface SettingsSources {
  readonly env: NodeJS.ProcessEnv;
  /** The folder to search for a project file, upwards. */
  readonly folder?: string | undefined;
}

/** The unchecked settings of one source. */
interface Layer {
  readonly said: Readonly<Record<string, unknown>>;
  readonly origin: (name: string) => SettingOrigin;
}

/** What the same texts and variables gave an earlier start, all of it checked. */
interface Checked {
  readonly own: Layer['said'];
  readonly project: Layer['said'] | undefined;
  readonly values: SettingsValues;
}

/** The environment wins over the project file, then the user's. Loads zod and conf only for what has changed. */
export async function openSettings(
  paths: Paths,
  { env, folder }: SettingsSources = { env: {} },
): Promise<Settings> {
  const path = join(paths.config, `${FILE}.json`);
  const text = await readText(path);
  const found = folder === undefined ? undefined : await findProjectFile(folder);
  const project = found instanceof ForeignFileError ? undefined : found;
  const environment = fromEnvironment(env);
  // What was checked for the same texts needs no zod.
  const cache = new CachedFile<Checked>(paths.cache, 'checked-settings');
  const stamp = JSON.stringify([path, text, project?.path, project?.text, environment.said]);
  const isEmpty = stamp === JSON.stringify([path, undefined, undefined, undefined, {}]);
  const cached = isEmpty ? undefined : await cache.read(stamp);
  const above = [environment, await fromProject(project, cached?.project)].filter(
    (layer) => Object.keys(layer.said).length > 0,
  );
  let own: Layer['said'] = cached?.own ?? settingsIn(text, path);
  let values = cached?.values ?? (await combined(own, above, path));
  // The cache would keep a password in a variable beyond its shell.
  const hasPassword = Object.values(environment.said).some(
    (value) => passwordSpan(String(value)) !== undefined,
  );
  if (!isEmpty && cached === undefined && !hasPassword) {
    const project = above.find((layer) => layer !== environment)?.said;
    await cache.keep({ own, project, values }, stamp);
  }
  const settings: Settings = {
    path,
    remark: found instanceof ForeignFileError ? found.message : undefined,
    get: (name) => values[name],
    origin(name) {
      const layer = above.find(({ said }) => name in said);
      if (layer !== undefined) return layer.origin(name);
      return name in own
        ? { kind: 'user', path, line: lineOf(name, text ?? '') }
        : { kind: 'default' };
    },
    async set(name, value) {
      const { checkSettings } = await import('./settings-schema.ts');
      checkSettings({ [name]: value }, path);
      await settings.change(name, () => value);
    },
    async change(name, change) {
      const { checkSettings } = await import('./settings-schema.ts');
      await withLock(path, async () => {
        await refuseLink(path); // conf would follow it
        const stored = checkSettings(settingsIn(await readText(path), path), path);
        const value = change(stored[name]);
        await makePrivateFolder(paths.config); // conf would let others look into it
        const { default: Conf } = await import('conf');
        own = inFile(path, 'write', () => {
          const store = new Conf({
            cwd: paths.config,
            configName: FILE,
            configFileMode: 0o600,
            projectSuffix: '',
            accessPropertiesByDotNotation: false,
            clearInvalidConfig: false,
          });
          if (value === undefined) store.delete(name);
          else store.set(name, value);
          return store.store;
        });
        values = await combined(own, above, path);
      });
    },
  };
  return settings;
}

/** The defaults. */
const UNSET = Object.fromEntries(
  SETTING_ROWS.flatMap(([name, row]) => (row.default === undefined ? [] : [[name, row.default]])),
) as SettingsValues;

/** Merges the layers. Each is checked by itself, so that an error names its source. */
async function combined(
  own: Readonly<Record<string, unknown>>,
  above: readonly Layer[],
  path: string,
): Promise<SettingsValues> {
  if (Object.keys(own).length === 0 && above.length === 0) return UNSET;
  const { checkSettings } = await import('./settings-schema.ts');
  checkSettings(own, path);
  for (const { said, origin } of above) {
    for (const [name, value] of Object.entries(said)) {
      checkSettings({ [name]: value }, originText(origin(name)));
    }
  }
  return checkSettings(Object.assign({}, own, ...above.map(({ said }) => said).reverse()), path);
}

/** Throws a `SettingsError` for a variable that is a letter away from one of devsh: it may have been to forbid writes. */
function refuseMistyped(env: NodeJS.ProcessEnv): void {
  const known = SETTING_ROWS.flatMap(([, { variable }]) => variable?.name ?? []);
  for (const name of Object.keys(env)) {
    if (!MAY_BE_A_SETTING.test(name) || known.includes(name)) continue;
    const meant = known.find((one) => editDistance(name.toUpperCase(), one) <= 1);
    if (meant !== undefined) {
      throw new SettingsError(`devsh reads no variable ${name}; did you mean ${meant}?`);
    }
  }
}

function fromEnvironment(env: NodeJS.ProcessEnv): Layer {
  refuseMistyped(env);
  const set = SETTING_ROWS.flatMap(([setting, { variable }]) => {
    const text = variable && env[variable.name];
    return text ? [{ setting, ...variable, text }] : [];
  });
  return {
    said: Object.fromEntries(
      set.map(({ setting, text, read }) => [setting, read === undefined ? text : read(text)]),
    ),
    origin: (name) => ({
      kind: 'environment',
      variable: set.find(({ setting }) => setting === name)?.name ?? '',
    }),
  };
}

/** @param checked the settings of the same text */
async function fromProject(
  file: ProjectFile | undefined,
  checked: Layer['said'] | undefined,
): Promise<Layer> {
  if (file === undefined) return { said: {}, origin: () => ({ kind: 'default' }) };
  const { path, text } = file;
  const check = async (): Promise<Layer['said']> => {
    const data = inFile(path, 'read', () => JSON.parse(text) as unknown);
    const { checkProject } = await import('./settings-schema.ts');
    return checkProject(data, path);
  };
  return {
    said: checked ?? (await check()),
    origin: (name) => ({ kind: 'project', path, line: lineOf(name, text) }),
  };
}

/** The line of a key in a JSON text, from 1. */
function lineOf(name: string, text: string): number {
  return text.split('\n').findIndex((line) => line.includes(`"${name}"`)) + 1 || 1;
}

/** Whether the user's file at `path` sets `name`, whatever wins over it. Throws SettingsError for invalid JSON. */
export async function isInFile(path: string, name: string): Promise<boolean> {
  return Object.hasOwn(settingsIn(await readText(path), path), name);
}

/** The content of a settings file; of none, no settings. */
function settingsIn(text: string | undefined, path: string): Layer['said'] {
  const data = inFile(path, 'read', () => JSON.parse(text ?? '{}') as unknown);
  if (typeof data !== 'object' || data === null || Array.isArray(data)) {
    throw new SettingsError(
      `${path} must be an object like {"format": "json"}; correct or remove it`,
    );
  }
  return { ...data };
}

/** For what throws the errors of Node and JSON.parse, as conf does. Throws a SettingsError that names the file. */
function inFile<T>(path: string, action: 'read' | 'write', work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof SettingsError) throw error;
    if (errorCode(error) !== undefined) throw fileError(action, path, error);
    const reason = error instanceof SyntaxError ? ` (${error.message})` : '';
    throw new SettingsError(`${path} is not valid JSON${reason}; correct or remove the file`, {
      cause: error,
    });
  }
}
