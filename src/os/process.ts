import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';

/**
 * The environment for a program that devsh starts: without devsh's own variables, which may hold
 * secrets, without the login of a proxy, and without NODE_OPTIONS, which would change how one in Node
 * runs.
 */
export function childEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env)
      .filter(([name]) => !/^(DEVSH_|NODE_OPTIONS$)/i.test(name))
      .map(([name, value]) => [name, /_proxy$/i.test(name) ? withoutLogin(value) : value]),
  );
}

/** `http://me:secret@proxy:3128` without what stands before the last `@`. */
function withoutLogin(url: string | undefined): string | undefined {
  return url?.replace(/^(\w+:\/\/)?.*@/s, '$1');
}

/** Who uses devsh, for the journal: `user@machine`. */
export function operatorName(): string {
  return `${userInfo().username}@${hostname()}`;
}

/** What terminals call their tabs and panes. */
const TERMINAL_NAMES = ['TERM_SESSION_ID', 'WT_SESSION', 'TMUX_PANE'] as const;

/**
 * What the devshes of one terminal have in common, and those of others have not: a short name, the
 * same for one command after the other. Where the system does not tell its sessions, it is the
 * program that started devsh.
 */
export function sessionName(env: NodeJS.ProcessEnv): string {
  const parts = [systemSession() ?? `${process.ppid}`, ...TERMINAL_NAMES.map((name) => env[name])];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 12);
}

/** The session as Linux counts it, and when it began, as numbers come again; undefined elsewhere. */
function systemSession(): string | undefined {
  const session = processFacts('self')?.[3] ?? '0';
  // Nobody began what began outside of a container.
  return session === '0' ? undefined : `${session} ${processFacts(session)?.[19] ?? ''}`;
}

/** What follows the name of a program in proc_pid_stat(5). */
function processFacts(pid: string): string[] | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
  } catch {
    return undefined;
  }
}
