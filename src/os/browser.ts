import { setTimeout as sleep } from 'node:timers/promises';
import { exitOf, startProgram } from './program.ts';

/** A starter that fails does so within this time. */
const START_MS = 1000;

/** By `$BROWSER` or the platform's starter. Resolves to whether it worked; does not wait for a slow browser. */
export async function openInBrowser(url: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const child = startProgram([...starterOf(env), url], env, { stdio: 'ignore', detached: true });
  child.unref();
  const isOpen = exitOf(child).then(
    ({ status }) => status === 0,
    () => false,
  );
  const settled = new AbortController();
  try {
    return await Promise.race([isOpen, sleep(START_MS, true, { signal: settled.signal })]);
  } finally {
    settled.abort();
  }
}

const STARTERS: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

function starterOf({ BROWSER }: NodeJS.ProcessEnv): readonly string[] {
  if (BROWSER !== undefined && BROWSER !== '') return [BROWSER];
  return STARTERS[process.platform] ?? ['xdg-open'];
}
