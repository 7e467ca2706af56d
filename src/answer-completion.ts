import { join } from 'node:path';
import { currentFolder } from './os/files.ts';
import { UsageError } from './errors.ts';
import { Fleet } from './fleet/fleet.ts';
import { openInventory } from './settings/inventory-file.ts';
import { resolvePaths } from './os/environment.ts';
import { RunFiles } from './settings/run-files.ts';
import { SeenKeys } from './settings/seen-keys.ts';
import { openSettings } from './settings/settings.ts';
import type { CompletionSources } from './shell/seen-devices.ts';
import { answer } from './shell/completion/complete.ts';
import { COMPLETION_SHELLS } from './shell/completion/shells.ts';

/** Answers each Tab (`devsh __complete SHELL …`): reads files only, and loads no network, keychain or screen. */
export async function answerCompletion(
  [name = '', ...args]: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<string> {
  const shell = COMPLETION_SHELLS.find((one) => one.name === name);
  if (shell === undefined) throw new UsageError(`there is no completion for "${name}"`);
  const asked = shell.read(args);
  return asked.write(await answer(asked, await openSources(env)));
}

async function openSources(env: NodeJS.ProcessEnv): Promise<CompletionSources> {
  const paths = resolvePaths(env);
  const { state, cache } = paths;
  const settings = await openSettings(paths, { env, folder: currentFolder() });
  return {
    fleet: new Fleet(),
    services: {
      settings,
      inventory: openInventory(paths, settings, () => undefined), // told by the next command
      runs: new RunFiles(join(state, 'runs')),
      seenKeys: new SeenKeys(join(cache, 'seen'), settings.get('rememberKeys')),
    },
  };
}
