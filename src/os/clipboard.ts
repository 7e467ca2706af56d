import { runProgram } from './program.ts';

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
  for (const argv of programs) {
    // xclip stays and holds on to its output, which nobody reads.
    const call = { argv, env, input: text, limitMs: LIMIT_MS, ignoreOutput: true, ourGroup: true };
    const end = await runProgram(call);
    if (end.kind === 'ended' && end.status === 0) return argv[0];
  }
  return undefined;
}
