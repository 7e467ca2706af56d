import { hostname, userInfo } from 'node:os';
import { enableCompileCache } from 'node:module';
import { dirname, join, posix, win32 } from 'node:path';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { SettingsError, attempt } from '../errors.ts';

/** The folders that devsh keeps its files in; none of them needs to exist. */
export interface Paths {
  /** Settings and the inventory: what the user writes. */
  readonly config: string;
  /** Certificate pins: what must not get lost. */
  readonly data: string;
  /** The history and the journal of runs. */
  readonly state: string;
  /** What can be fetched again. */
  readonly cache: string;
}

/** The folders of devsh, by the XDG variables on every system. Relative ones are ignored, as XDG asks. */
export function resolvePaths(
  env: NodeJS.ProcessEnv,
  platform: NodeJS.Platform = process.platform,
  home: string = homeFolder(env),
): Paths {
  const path = platform === 'win32' ? win32 : posix;
  const defaults = systemFolders(env, platform, home);
  const folder = (variable: string, usual: string): string => {
    const value = env[variable];
    return path.join(value !== undefined && path.isAbsolute(value) ? value : usual, 'devsh');
  };
  return {
    config: folder('XDG_CONFIG_HOME', defaults.config),
    data: folder('XDG_DATA_HOME', defaults.data),
    state: folder('XDG_STATE_HOME', defaults.state),
    cache: folder('XDG_CACHE_HOME', defaults.cache),
  };
}

/** Where programs of this system keep their folders. */
function systemFolders(env: NodeJS.ProcessEnv, platform: NodeJS.Platform, home: string): Paths {
  if (platform === 'win32') {
    const roaming = env['APPDATA'] || win32.join(home, 'AppData', 'Roaming');
    const local = env['LOCALAPPDATA'] || win32.join(home, 'AppData', 'Local');
    return { config: roaming, data: local, state: local, cache: win32.join(local, 'Temp') };
  }
  const below = (...names: readonly string[]): string => posix.join(home, ...names);
  if (platform === 'darwin') {
    const support = below('Library', 'Application Support');
    const [config, cache] = [below('Library', 'Preferences'), below('Library', 'Caches')];
    return { config, data: support, state: support, cache };
  }
  const [data, state] = [below('.local', 'share'), below('.local', 'state')];
  return { config: below('.config'), data, state, cache: below('.cache') };
}

/** Throws SettingsError for an account without a home folder, as in some containers. */
export function homeFolder(env: NodeJS.ProcessEnv): string {
  if (env['HOME']) return env['HOME'];
  try {
    return userInfo().homedir;
  } catch (error) {
    throw new SettingsError('this account has no home folder: set HOME', { cause: error });
  }
}

/** The user of devsh, for the journal: `user@machine`. In a container a uid may have no account. */
export function operatorName(env: NodeJS.ProcessEnv): string {
  const account = attempt(Error, () => userInfo().username);
  const user = account ?? (env['LOGNAME'] || env['USER'] || `uid${process.getuid?.()}`);
  return `${user}@${hostname()}`;
}

/** Variables in which terminals name their tabs and panes. */
const TERMINAL_NAMES = ['TERM_SESSION_ID', 'WT_SESSION', 'TMUX_PANE'] as const;

/** Shared by the devsh processes of one terminal. The parent process if the system reports no sessions. */
export function sessionName(env: NodeJS.ProcessEnv): string {
  const parts = [systemSession() ?? `${process.ppid}`, ...TERMINAL_NAMES.map((name) => env[name])];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 12);
}

/** The session id on Linux with its start time, as ids are reused; undefined elsewhere. */
function systemSession(): string | undefined {
  const session = processFacts('self')?.[3];
  if (session === undefined) return undefined;
  // 0: the session leader is outside of the container.
  const leader = session === '0' ? outermostAncestor(`${process.pid}`) : session;
  return `${leader} ${processFacts(leader)?.[19] ?? ''}`;
}

/** The outermost visible ancestor whose session leader is outside of the container. */
function outermostAncestor(pid: string): string {
  const parent = processFacts(pid)?.[1] ?? '0';
  return processFacts(parent)?.[3] === '0' ? outermostAncestor(parent) : pid;
}

/** The fields after the program name in proc_pid_stat(5). */
export function processFacts(pid: string): string[] | undefined {
  const text = attempt(Error, () => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  return text?.replace(/^.*\) /s, '').split(' ');
}

/** Keeps the compiled program in a folder of the user: in the usual one others could put code. Node's variables win. */
export function keepCompiledCode(env: NodeJS.ProcessEnv): void {
  // A start without this folder only takes longer.
  const folder = attempt(Error, () => ownFolder(resolvePaths(env).cache));
  if (folder !== undefined) enableCompileCache(folder);
}

/** `compiled` in this cache, without symbolic links; undefined if somebody else could write to a folder of the path. */
function ownFolder(cache: string): string | undefined {
  const folder = join(cache, 'compiled');
  for (const one of [dirname(cache), cache, folder]) {
    // Under sudo the home folder may belong to another user, who could not use files of root.
    if (!existsSync(one) && isOurs(dirname(one))) mkdirSync(one, { mode: 0o700 });
  }
  const real = realpathSync(folder);
  return isOurs(real) && isProtected(dirname(real)) ? real : undefined;
}

/** Owned by this user, and writable for nobody else. */
function isOurs(folder: string, uids = [process.getuid?.()]): boolean {
  const { uid, mode } = statSync(folder);
  return process.getuid === undefined || (uids.includes(uid) && (mode & 0o022) === 0);
}

/** Whether only this user and root can replace the folder. */
function isProtected(folder: string): boolean {
  const above = dirname(folder);
  return isOurs(folder, [process.getuid?.(), 0]) && (above === folder || isProtected(above));
}
