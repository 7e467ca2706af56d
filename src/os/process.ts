import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';

/** The user of devsh, for the journal: `user@machine`. */
export function operatorName(): string {
  return `${userInfo().username}@${hostname()}`;
}

/** Variables in which terminals name their tabs and panes. */
const TERMINAL_NAMES = ['TERM_SESSION_ID', 'WT_SESSION', 'TMUX_PANE'] as const;

/**
 * A short name shared by the devsh processes of one terminal, and different in other terminals. Falls
 * back to the parent process if the system does not report sessions.
 */
export function sessionName(env: NodeJS.ProcessEnv): string {
  const parts = [systemSession() ?? `${process.ppid}`, ...TERMINAL_NAMES.map((name) => env[name])];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 12);
}

/** The session id on Linux with its start time, as ids are reused; undefined elsewhere. */
function systemSession(): string | undefined {
  const session = processFacts('self')?.[3] ?? '0';
  // 0: the session leader is outside of the container.
  return session === '0' ? undefined : `${session} ${processFacts(session)?.[19] ?? ''}`;
}

/** The fields after the program name in proc_pid_stat(5). */
function processFacts(pid: string): string[] | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
  } catch {
    return undefined;
  }
}
