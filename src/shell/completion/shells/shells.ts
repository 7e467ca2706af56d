import { bash } from './bash.ts';
import type { CompletionShell } from './completion-shell.ts';
import { fish } from './fish.ts';
import { powershell } from './powershell.ts';
import { zsh } from './zsh.ts';

/** In the order of `SHELL_NAMES`. */
export const COMPLETION_SHELLS: readonly CompletionShell[] = [bash, zsh, fish, powershell];
