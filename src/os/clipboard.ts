import { spawn } from 'node:child_process';
import { childEnvironment } from './process.ts';

/** So long a clipboard program may take to read the text. */
const LIMIT_MS = 2000;

/** The programs that may know the clipboard of this desktop, the likeliest first. */
export function clipboardPrograms(
  env: NodeJS.ProcessEnv,
  platform: NodeJS.Platform,
): readonly (readonly string[])[] {
  if (platform === 'darwin') return [['pbcopy']];
  if (platform === 'win32') return [['clip.exe']];
  const isSet = (name: string): boolean => (env[name] ?? '') !== '';
  return [
    ...(isSet('WAYLAND_DISPLAY') ? [['wl-copy']] : []),
    ...(isSet('DISPLAY')
      ? [
          ['xclip', '-selection', 'clipboard'],
          ['xsel', '--clipboard', '--input'],
        ]
      : []),
    ...(isSet('WSL_DISTRO_NAME') ? [['clip.exe']] : []),
  ];
}

/**
 * Gives the text to the first of these programs that takes it, and resolves to its name. The terminal
 * never says whether it took it (OSC 52), so both are tried.
 */
export async function copyWithProgram(
  text: string,
  env: NodeJS.ProcessEnv,
  programs = clipboardPrograms(env, process.platform),
): Promise<string | undefined> {
  for (const [command = '', ...args] of programs) {
    if (await feed(command, args, text, env)) return command;
  }
  return undefined;
}

function feed(
  command: string,
  args: readonly string[],
  text: string,
  env: NodeJS.ProcessEnv,
): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      // xclip stays and holds on to its output, which nobody reads.
      stdio: ['pipe', 'ignore', 'ignore'],
      env: childEnvironment(env),
      timeout: LIMIT_MS,
    });
    child.on('error', () => {
      resolve(false);
    });
    child.on('exit', (status) => {
      resolve(status === 0);
    });
    // A program that ends without reading is told by its exit.
    child.stdin.on('error', () => undefined);
    child.stdin.end(text);
  });
}
