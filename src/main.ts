import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { ioOf, type LineEnd, runLine } from './plain/run-line.ts';
import type { Host } from './plain/host.ts';
import { documentOf, toJson } from './output/document.ts';
import { readStandardInput } from './os/user-file.ts';
import { visibleLines } from './text/visible.ts';
import { CancelledError, DevshError, UsageError } from './errors.ts';
import { digestWith } from './device/sensitive-fields.ts';
import { currentFolder, ownKey, removeDrafts, temporaryFolder } from './os/files.ts';
import { openSettings, type Settings } from './settings/settings.ts';
import { openingOf, Shell } from './shell/shell.ts';
import { formatAsked } from './shell/grammar/bind.ts';
import { hideArguments } from './shell/grammar/hide-secrets.ts';
import { wordsOfArgv } from './text/words.ts';
import { rememberKeys } from './shell/records/last-seen.ts';
import { ShellSession } from './shell/session.ts';
import { BUGS, VERSION } from './version.ts';
import { type Paths, resolvePaths } from './os/environment.ts';
import type { Format } from './shell/grammar/options.ts';
import type { Output } from './shell/output.ts';
import { type RunningSimulator, Services, type SimulatorSpec } from './shell/services.ts';

export { hideArguments };

/** Exit status of a bug in devsh, as in sysexits.h. */
const BUG = 70;

/** Chooses between one command, a script, the prompt and the screen. Resolves to the exit status; never throws. */
export async function main(host: Host): Promise<number> {
  const output = watchOutput(host);
  const words = host.argv;
  const isDemo = words[0] === 'demo' && !words.includes('--help') && !words.includes('-h');
  try {
    const { paths, cleanUp } = choosePaths(host.env, isDemo);
    try {
      const exitCode = await runIn(host, paths, isDemo, cleanUp);
      return (await output.isLost()) && exitCode === 0 ? 1 : exitCode;
    } finally {
      cleanUp();
    }
  } catch (error) {
    if (error instanceof DevshError) {
      // A script that reads JSON gets JSON errors even before there is a shell.
      const isJson = ['json', 'jsonl'].includes(formatAsked(wordsOfArgv(words)) ?? '');
      if (isJson) host.stdout.write(`${toJson(documentOf([], error))}\n`);
      else host.stderr.write(`devsh: ${visibleLines(error.message)}\n`);
      return error.exitCode;
    }
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
    host.stderr.write(
      `devsh: this is a bug. Please report it at ${BUGS}, with "devsh doctor --json" and these lines:\n${stack}\n`,
    );
    return BUG;
  }
}

async function runIn(
  host: Host,
  paths: Parameters<typeof openSettings>[0],
  isDemo: boolean,
  cleanUp: () => void,
): Promise<number> {
  const settings = await openSettings(
    paths,
    isDemo ? undefined : { env: host.env, folder: host.cwd ?? currentFolder() },
  );
  const readStdin = once(() => readStandardInput(host.stdin));
  const { env, stdout } = host;
  const services = new AllServices({ env, version: VERSION, paths, settings, readStdin, stdout });
  const shellSession = new ShellSession(services);
  shellSession.defaults = {
    timeoutMs: settings.get('timeoutMs'),
    concurrency: settings.get('concurrency'),
    format: settings.get('format'),
  };
  shellSession.isReadOnly = settings.get('readOnly') === true;
  shellSession.keepsForItself = isDemo;
  const shell = new Shell(shellSession);
  try {
    digestWith(() => ownKey(join(paths.state, 'digest-key')));
    if (await services.profiles.declareSecrets()) hideArguments(host.argv);
    return await runMode(host, shell, settings, readStdin, cleanUp);
  } finally {
    await shellSession.close();
    // What came up after the last line.
    for (const { text } of services.notices.take()) {
      host.stderr.write(`${visibleLines(text)}\n`);
    }
  }
}

/** Runs a shell for no command and for `connect` and `demo`, otherwise the one command. */
async function runMode(
  host: Host,
  shell: Shell,
  settings: Settings,
  readStdin: () => Promise<string>,
  cleanUp: () => void,
): Promise<number> {
  const words = wordsOfArgv(host.argv);
  const opening = openingOf(shell, host.argv);
  if (opening === undefined) {
    const stop = new AbortController();
    let end: LineEnd | undefined;
    let stoppedBy: 'SIGINT' | 'SIGTERM' | undefined;
    const release = host.onStop((signal) => {
      stoppedBy ??= signal;
      stop.abort(new CancelledError());
    });
    try {
      const io = { ...ioOf(host, stop.signal), readInput: readStdin, isLast: true };
      end = await runLine(shell, words, host, io);
    } finally {
      release();
    }
    return stoppedBy === 'SIGTERM' ? 143 : end.exitCode;
  }
  rememberKeys(shell.shell);
  // A person reads the prompt.
  shell.shell.defaults = { ...shell.shell.defaults, format: undefined };
  const isTerminal = host.stdin.isTTY === true && host.stdout.isTTY === true;
  const { TERM, INK_SCREEN_READER } = host.env;
  if (isTerminal && !opening.isPlain && TERM !== 'dumb' && INK_SCREEN_READER !== 'true') {
    const { runTui } = await import('./tui/run.ts');
    const { keymapWith } = await import('./tui/keys/alias-keys.ts');
    return runTui(shell, host, opening, {
      keymap: keymapWith(settings.get('aliases'), settings.path),
      theme: opening.theme ?? settings.get('theme'),
      reduceMotion: settings.get('reduceMotion'),
      detailsBeside: settings.get('detailsBeside'),
      cleanUp: () => {
        removeDrafts();
        cleanUp();
      },
    });
  }
  if (opening.isDemo && !isTerminal) return runTour(shell, host, opening.line);
  const { runRepl } = await import('./plain/repl.ts');
  return runRepl(shell, host, opening.line);
}

/** `devsh demo` without a terminal: shows a first session line by line. */
async function runTour(shell: Shell, host: Host, firstLine: string): Promise<number> {
  const { runStoppable } = await import('./plain/repl.ts');
  let stopped: number | undefined;
  // A signal between two lines must leave nothing behind, too.
  const release = host.onStop((signal) => {
    stopped ??= signal === 'SIGTERM' ? 143 : 130;
  });
  try {
    for (const line of [firstLine, ...TOUR]) {
      host.stdout.write(`\ndevsh> ${line}\n`);
      const { exitCode } = await runStoppable(shell, line, host);
      if (stopped !== undefined || exitCode !== 0) return stopped ?? exitCode;
    }
    return 0;
  } finally {
    release();
  }
}

/** Output that cannot be written stops no write to devices. A reader that closed the pipe is no failure. */
function watchOutput(host: Host): { isLost(): Promise<boolean> } {
  let isLost = false;
  for (const stream of [host.stdout, host.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE' || error.code === 'EIO' || isLost) return;
      isLost = true;
      const reason = error.code === 'ENOSPC' ? 'no space left on the disk' : error.message;
      if (stream === host.stdout) {
        host.stderr.write(`devsh: the output cannot be written: ${visibleLines(reason)}\n`);
      }
    });
  }
  return {
    async isLost() {
      // A stream reports a failed write in a later turn.
      await new Promise((resolve) => setImmediate(resolve));
      return isLost;
    },
  };
}

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => (result ??= work());
}

/** The lines of the demo without a terminal, after connecting: table, add, read-back, delete. */
const TOUR: readonly string[] = [
  'user list --fold --sort username --columns username,first_name,lastname,lang',
  'user add username=carol first_name=Carol lastname=Clark lang=de --yes',
  'user show carol',
  'user set carol lang=en --on sim1 --yes',
  'user list carol',
  'user delete carol --yes',
  'user list carol',
];

/** The services with the layers above the shell: output, the full screen, the simulator. */
export class AllServices extends Services {
  async render(format: Format, outputs: readonly Output[]): Promise<string> {
    const { renderedText } = await import('./output/writers.ts');
    return renderedText(format, outputs);
  }

  async keys() {
    const { keymapWith } = await import('./tui/keys/alias-keys.ts');
    return keymapWith(this.settings.get('aliases'), this.settings.path);
  }

  async startSimulator(spec: SimulatorSpec): Promise<RunningSimulator> {
    const { SimulatorError, startSimulator } = await import('./simulator/simulator.ts');
    try {
      return await startSimulator(spec);
    } catch (error) {
      if (!(error instanceof SimulatorError)) throw error;
      throw new UsageError(error.message, { cause: error });
    }
  }
}

/** The folders of settings, pins and history; for the demo a temporary folder that is removed again. */
function choosePaths(
  env: NodeJS.ProcessEnv,
  isDemo: boolean,
): { paths: Paths; cleanUp: () => void } {
  if (!isDemo) return { paths: resolvePaths(env), cleanUp: () => undefined };
  const folder = temporaryFolder('demo');
  const own = (name: string): string => join(folder, name);
  return {
    paths: { config: own('config'), data: own('data'), state: own('state'), cache: own('cache') },
    // Synchronous: a signal leaves no time to wait.
    cleanUp: () => rmSync(folder, { recursive: true, force: true }),
  };
}
