import { childEnvironment } from './process.ts';

/** How long a starter may take to say that it cannot. */
const START_MS = 1000;

/**
 * Opens an address in the user's browser, with the platform's own starter (`$BROWSER` first). Resolves
 * to whether that could be started; a browser that comes later does not hold up devsh.
 */
export function openInBrowser(url: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const [command = '', ...args] = starterOf(env);
  return new Promise((resolve) => {
    // Loaded only now: most commands start no program.
    const { spawn } = process.getBuiltinModule('node:child_process');
    const child = spawn(command, [...args, url], {
      stdio: 'ignore',
      detached: true,
      env: childEnvironment(env),
    });
    const timer = setTimeout(() => {
      resolve(true);
    }, START_MS);
    child.on('error', () => {
      clearTimeout(timer);
      resolve(false);
    });
    child.on('exit', (status) => {
      clearTimeout(timer);
      resolve(status === 0);
    });
    child.unref();
  });
}

const STARTERS: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

function starterOf({ BROWSER }: NodeJS.ProcessEnv): readonly string[] {
  if (BROWSER !== undefined && BROWSER !== '') return [BROWSER];
  return STARTERS[process.platform] ?? ['xdg-open'];
}
