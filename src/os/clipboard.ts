import { runProgram } from './program.ts';

const LIMIT_MS = 2000;

/** The programs that may reach the clipboard of this desktop, the likeliest first. */
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

/** Copies with the first program that accepts it; resolves to its name. OSC 52 confirms nothing: callers use both. */
export async function copyWithProgram(
  text: string,
  env: NodeJS.ProcessEnv,
  programs = clipboardPrograms(env, process.platform),
): Promise<string | undefined> {
  for (const argv of programs) {
    // xclip stays and keeps its output open, so the output is ignored.
    const call = { argv, env, input: text, limitMs: LIMIT_MS, ignoreOutput: true, ourGroup: true };
    const end = await runProgram(call);
    if (end.kind === 'ended' && end.status === 0) return argv[0];
  }
  return undefined;
}
