import { join } from 'node:path';
import { UsageError } from './errors.ts';
import { Fleet } from './fleet/fleet.ts';
import { readText } from './settings/files.ts';
import { GoodCopy } from './settings/good-copy.ts';
import { HistoryFile } from './settings/history-file.ts';
import { InventoryFile } from './settings/inventory-file.ts';
import { ParsedCopy } from './settings/parsed-copy.ts';
import { resolvePaths } from './settings/paths.ts';
import { RunFiles } from './settings/run-files.ts';
import { SeenKeys } from './settings/seen-keys.ts';
import type { CompletionSources } from './shell/known-devices.ts';
import { answer } from './shell/completion/answer.ts';
import { COMPLETION_SHELLS } from './shell/completion/shells.ts';

/**
 * `devsh __complete SHELL …`, as the scripts of `devsh completion` call it at each Tab. A program of its
 * own in the bundle: with files only, without network, keychain and screen, it starts in the time of a key.
 */
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
  const { config, state, cache } = resolvePaths(env);
  return {
    fleet: new Fleet(),
    services: {
      inventory: new InventoryFile(
        join(config, 'devices.yaml'),
        new GoodCopy(join(state, 'good-copies', 'devices.yaml')),
        () => undefined, // told by the next command
        new ParsedCopy(cache, 'devices'),
      ),
      history: new HistoryFile(join(state, 'history')),
      runs: new RunFiles(join(state, 'runs')),
      seenKeys: new SeenKeys(join(cache, 'seen'), await remembersKeys(config)),
    },
  };
}

/** The one setting that matters here; to check all of them takes longer than the rest. */
async function remembersKeys(config: string): Promise<boolean> {
  const text = await readText(join(config, 'settings.json'));
  return text === undefined || !/"rememberKeys"\s*:\s*(?!true)/.test(text);
}
