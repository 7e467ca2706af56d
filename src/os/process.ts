import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';

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
