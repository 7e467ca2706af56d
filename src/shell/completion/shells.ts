import { bash } from './bash.ts';
import type { CompletionShell } from './completion-shell.ts';
import { fish } from './fish.ts';
import { powershell } from './powershell.ts';
import { zsh } from './zsh.ts';

/** The shells that can be taught to complete the words of devsh. */
export const COMPLETION_SHELLS: readonly CompletionShell[] = [bash, zsh, fish, powershell];
