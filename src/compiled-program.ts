import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { cachedDataVersionTag } from 'node:v8';
import { Script } from 'node:vm';
import { crc32 } from 'node:zlib';
import { resolvePaths } from './os/environment.ts';

/** The parameters of a CommonJS module. */
type Body = (
  exports: unknown,
  require: (name: string) => unknown,
  module: Module,
  file: string,
) => void;

interface Module {
  exports: unknown;
}

interface Compiled {
  readonly script: Script;
  /** Where its compiled code is kept. */
  readonly path: string;
  /** The version and flags of V8 when it was loaded; other ones refuse the code. */
  readonly tag: number;
  /** A bit for each command whose code is kept; 0 if none is usable. */
  readonly known: number;
}

const BEGIN = '(function (exports, require, module, __filename) {';
/** A checksum, because V8 crashes on damaged code, and `Compiled.known`. */
const HEADER_BYTES = 8;
/** Older files may belong to a version that was removed. */
const KEPT_MS = 30 * 86_400_000;

/**
 * The files of the built program. Code that an earlier run has compiled comes from the cache, which saves a
 * quarter of each start; without a usable cache a start only takes longer.
 */
export class CompiledProgram {
  readonly #folder: string;
  readonly #cache: string | undefined;
  readonly #modules = new Map<string, Module>();
  readonly #compiled: Compiled[] = [];
  readonly #require: NodeJS.Require;
  /** One of 32 bits for the command of this run. */
  readonly #command: number;

  constructor(folder: string, { argv, env }: Pick<NodeJS.Process, 'argv' | 'env'>) {
    this.#folder = folder;
    this.#command = (1 << crc32(argv.slice(2, 4).join(' '))) >>> 0;
    this.#require = createRequire(join(folder, 'program.cjs'));
    this.#cache = cacheFolder(env);
    if (this.#cache === undefined) return;
    process.once('exit', () => this.#keep());
  }

  /** The exports of a CommonJS file, which is named by its content. @param name relative */
  load(name: string): unknown {
    return this.#load(join(this.#folder, name));
  }

  #load(file: string): unknown {
    const known = this.#modules.get(file);
    if (known !== undefined) return known.exports;
    const module: Module = { exports: {} };
    this.#modules.set(file, module);
    const run = this.#compile(file).runInThisContext() as Body;
    const require = (name: string): unknown =>
      name.startsWith('.') ? this.#load(join(dirname(file), name)) : this.#require(name);
    run(module.exports, require, module, file);
    return module.exports;
  }

  #compile(file: string): Script {
    const source = `${BEGIN}${readFileSync(file, 'utf8')}\n})`;
    const filename = pathToFileURL(file).href;
    const options = { filename, columnOffset: -BEGIN.length };
    if (this.#cache === undefined) return new Script(source, options);
    const tag = cachedDataVersionTag();
    const path = join(this.#cache, `${basename(file)}.${tag.toString(36)}`);
    const kept = readKept(path);
    const script = new Script(source, { ...options, ...(kept && { cachedData: kept.code }) });
    const known = script.cachedDataRejected === false ? (kept?.known ?? 0) : 0;
    this.#compiled.push({ script, path, tag, known });
    return script;
  }

  /**
   * Keeps what was compiled, unless this command has done so before: Node compiles a function when it is first
   * called, and each command calls other ones.
   */
  #keep(): void {
    try {
      const now = cachedDataVersionTag();
      const fresh = this.#compiled.filter(
        ({ tag, known }) => tag === now && (known & this.#command) === 0,
      );
      for (const { path, script, known } of fresh) {
        writeKept(path, script.createCachedData(), (known | this.#command) >>> 0);
      }
      if (fresh.length > 0 && this.#cache !== undefined) removeOld(this.#cache);
    } catch {
      // A full disk, or a folder that is gone: the next start takes longer, and nothing else.
    }
  }
}

/** Private to the user, because its files are run; undefined if there can be none. */
function cacheFolder(env: NodeJS.ProcessEnv): string | undefined {
  if (env['NODE_DISABLE_COMPILE_CACHE']) return undefined;
  try {
    const folder = env['NODE_COMPILE_CACHE'] || join(resolvePaths(env).cache, 'compiled');
    for (const one of [dirname(dirname(folder)), dirname(folder), folder]) {
      // Under sudo the home folder may belong to another user, who could not use files of root.
      if (!existsSync(one) && isOurs(dirname(one))) mkdirSync(one, { mode: 0o700 });
    }
    return isOurs(folder) ? folder : undefined;
  } catch {
    // No home folder, which the command itself reports, or no writable one.
    return undefined;
  }
}

function isOurs(folder: string): boolean {
  const { uid, mode } = statSync(folder);
  return process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
}

function readKept(path: string): { code: Buffer; known: number } | undefined {
  try {
    const bytes = readFileSync(path);
    if (bytes.length <= HEADER_BYTES) return undefined;
    const [checked, code] = [bytes.subarray(4), bytes.subarray(HEADER_BYTES)];
    return crc32(checked) === bytes.readUInt32LE(0)
      ? { code, known: bytes.readUInt32LE(4) }
      : undefined;
  } catch {
    return undefined;
  }
}

function writeKept(path: string, code: Buffer, known: number): void {
  const bytes = Buffer.concat([Buffer.alloc(HEADER_BYTES), code]);
  bytes.writeUInt32LE(known, 4);
  bytes.writeUInt32LE(crc32(bytes.subarray(4)), 0);
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, bytes, { mode: 0o600, flag: 'wx' });
  renameSync(draft, path);
}

function removeOld(folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (Date.now() - statSync(path).mtimeMs > KEPT_MS) rmSync(path);
  }
}
