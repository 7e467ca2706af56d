import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Paths, resolvePaths } from './os/paths.ts';
import type { Format } from './shell/grammar/options.ts';
import type { Output } from './shell/output.ts';
import { type RunningSimulator, Services, type SimulatorSpec } from './shell/services.ts';

/** With what lies above the shell: output, the full screen, the simulator. */
export class AllServices extends Services {
  async render(format: Format, outputs: readonly Output[]): Promise<string> {
    const { renderedText } = await import('./output/quick-writer.ts');
    return renderedText(format, outputs);
  }

  async keys() {
    const { effectiveKeymap, keyTable } = await import('./tui/keys/own-keys.ts');
    return keyTable(effectiveKeymap(this.settings.get('keys') ?? {}, this.settings.path));
  }

  async faults() {
    const { FAULTS } = await import('./simulator/faults.ts');
    return FAULTS.map(({ name, stage, summary }) => ({ name, stage, summary }));
  }

  async quirks() {
    const { QUIRKS } = await import('./simulator/dialects/dialect.ts');
    return QUIRKS.map(({ name, summary }) => ({ name, summary }));
  }

  async startSimulator(spec: SimulatorSpec): Promise<RunningSimulator> {
    const { applyFault, startSimulator: start } = await import('./simulator/simulator.ts');
    const { parseFaultOption } = await import('./simulator/faults.ts');
    const { parseDialectOptions } = await import('./simulator/dialects/dialect.ts');
    const { devices, users, latencyMs, seed, port } = spec;
    const faults = spec.faults.map(parseFaultOption);
    const dialect = parseDialectOptions(spec);
    const simulator = await start({ devices, users, latencyMs, seed, port, ...dialect });
    try {
      for (const fault of faults) applyFault(simulator, fault);
    } catch (error) {
      await simulator.close();
      throw error;
    }
    return simulator;
  }
}

/** Where settings, pins and history live; for the demo in a folder of its own that is removed again. */
export async function choosePaths(
  env: NodeJS.ProcessEnv,
  isDemo: boolean,
): Promise<{ paths: Paths; cleanUp: () => void }> {
  if (!isDemo) return { paths: resolvePaths(env), cleanUp: () => undefined };
  const folder = await mkdtemp(join(tmpdir(), 'devsh-demo-'));
  const own = (name: string): string => join(folder, name);
  return {
    paths: { config: own('config'), data: own('data'), state: own('state'), cache: own('cache') },
    // At once: a signal leaves no time to wait.
    cleanUp: () => {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
