// --profile: keeps CPU profiles of the measured runs and sums up the self time in them.
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { SourceMap } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT, temporaryFolder } from './builds.js';

const INTERVAL_US = 250;
const MOST_FUNCTIONS = 40;

/** What the time of a function is for, by its source. The first that matches counts. */
const PARTS = [
  ['idle', /^\(idle\)$/],
  ['GC', /^\(garbage collector\)$/],
  ['native code outside functions', /^\((program|root)\)$/],
  [
    'TLS',
    /^node:(internal\/)?(_?tls|crypto)|^src\/device\/(tls|certificate-check|trust-anchors)\b/,
  ],
  ['sockets and streams', /^node:(internal\/)?(net|dns|streams?|_stream|js_stream)/],
  [
    'HTTP',
    /undici|^wasm:|^node:_http|^src\/device\/(client|exchange|network|page|(http|read)-con|retry)/,
  ],
  ['decode', /^src\/device\/|^node:(buffer|internal\/(buffer|encoding)|string_decoder)/],
  ['fold', /^src\/fleet\/(compared|drift|filter|fold|majority|sort)/],
  ['print', /^src\/(output|plain|text)\//],
  ['files', /^src\/(os|settings)\/|^src\/change\/(read-)?journal|^node:(internal\/)?fs/],
  ['plan and judge', /^src\/change\//],
  [
    'full screen',
    /^src\/tui\/|^node_modules\/(ink|react|react-reconciler|yoga-layout|scheduler)\//,
  ],
  ['simulator', /^src\/simulator\//],
  ['rest of devsh', /^src\//],
  [
    'timers, promises and events',
    /^node:(events|timers|async_hooks|internal\/(timers|process|ev|ab))/,
  ],
  ['packages', /^node_modules\//],
  ['start of Node, loading of code', /^(node:|bundle\/)/],
];

export class Profiles {
  /** Where the profiles are kept. */
  folder = mkdtempSync(join(tmpdir(), 'devsh-profile-'));
  #fresh = temporaryFolder(join(tmpdir(), 'devsh-bench-'));
  #sources = new Sources();
  #rows = 0;

  /** The options of Node for the runs to profile. */
  get nodeOptions() {
    return [
      '--cpu-prof',
      `--cpu-prof-dir=${this.#fresh}`,
      `--cpu-prof-interval=${INTERVAL_US}`,
      `--require=${join(import.meta.dirname, 'exit-on-signal.cjs')}`,
    ];
  }

  /** Profiles work in this process. */
  async during(work) {
    const session = new Session();
    session.connect();
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: INTERVAL_US });
    await session.post('Profiler.start');
    const result = await work();
    const { profile } = await session.post('Profiler.stop');
    session.disconnect();
    const file = `${readdirSync(this.#fresh).length}.cpuprofile`;
    writeFileSync(join(this.#fresh, file), JSON.stringify(profile));
    return result;
  }

  /** Forgets the profiles since the last call of `forget` or `take`. */
  forget() {
    for (const file of readdirSync(this.#fresh)) rmSync(join(this.#fresh, file));
  }

  /** Keeps the profiles since then, and returns their self times in ms per run, or undefined. */
  take() {
    const files = readdirSync(this.#fresh);
    if (files.length === 0) return undefined;
    this.#rows += 1;
    const sums = { total: 0, parts: new Map(), rooms: new Map(), functions: new Map() };
    for (const [run, file] of files.entries()) {
      const kept = join(this.folder, `${this.#rows}-${run + 1}.cpuprofile`);
      // The two folders have the same parent: they are on one file system.
      renameSync(join(this.#fresh, file), kept);
      this.#sum(JSON.parse(readFileSync(kept, 'utf8')), files.length, sums);
    }
    return {
      runs: files.length,
      total: sums.total,
      parts: largest(sums.parts),
      rooms: largest(sums.rooms),
      functions: largest(sums.functions).slice(0, MOST_FUNCTIONS),
    };
  }

  #sum({ nodes, samples, timeDeltas }, runs, sums) {
    const places = this.#placesOf(nodes);
    for (const [at, id] of samples.entries()) {
      // A delta is the time before its sample.
      const ms = (timeDeltas[at + 1] ?? 0) / 1000 / runs;
      const { source, name } = places.get(id);
      sums.total += ms;
      add(sums.parts, partOf(source), ms);
      add(sums.rooms, roomOf(source), ms);
      add(sums.functions, `${source} ${name}`, ms);
    }
  }

  /** The source and name of each node. A native function belongs to its caller. */
  #placesOf(nodes) {
    const places = new Map();
    const visit = (node, caller) => {
      const { functionName, url } = node.callFrame;
      const isNative = url === '' && !functionName.startsWith('(');
      const source = isNative
        ? caller.source
        : url === ''
          ? functionName
          : this.#sources.of(node.callFrame);
      const name = isNative ? `${caller.name} > ${functionName}` : functionName || '(anonymous)';
      const place = { source, name: url === '' && !isNative ? '' : name };
      places.set(node.id, place);
      // The name of a long chain of native functions would be long.
      const next = isNative ? caller : place;
      for (const id of node.children ?? []) visit(byId.get(id), next);
    };
    const byId = new Map(nodes.map((node) => [node.id, node]));
    visit(nodes[0], { source: '(root)', name: '' });
    return places;
  }
}

/** Finds the source of bundled functions. */
class Sources {
  #maps = new Map();

  of({ url, lineNumber, columnNumber }) {
    if (!url.startsWith('file:')) return url;
    const file = fileURLToPath(url);
    if (!this.#maps.has(file)) this.#maps.set(file, mapOf(file));
    const source = this.#maps.get(file)?.findEntry(lineNumber, columnNumber).originalSource;
    // Code of esbuild itself, such as the imports of a file.
    if (source === undefined) return `bundle/${basename(file)}`;
    return relative(ROOT, resolve(dirname(file), source));
  }
}

function mapOf(file) {
  try {
    return new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8')));
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

function partOf(source) {
  return PARTS.find(([, sources]) => sources.test(source))?.[0] ?? 'other';
}

/** `src/device`, `node_modules/undici`, or `node:net`. */
function roomOf(source) {
  return /^(src|node_modules)\/(@[^/]+\/)?[^/]+/.exec(source)?.[0] ?? source;
}

function add(sums, name, ms) {
  sums.set(name, (sums.get(name) ?? 0) + ms);
}

function largest(sums) {
  return [...sums].map(([name, ms]) => ({ name, ms })).toSorted((a, b) => b.ms - a.ms);
}

/** The text of a profile. */
export function profileText(name, { runs, total, parts, rooms, functions }) {
  const line = ({ name, ms }) => {
    const share = `${((100 * ms) / total).toFixed(1)} %`;
    return `  ${ms.toFixed(1).padStart(9)} ms ${share.padStart(7)}  ${name}`;
  };
  return [
    `${name}: self time of a run, the mean of ${runs}, ${total.toFixed(0)} ms in all`,
    'by part',
    ...parts.map(line),
    'by room',
    ...rooms.filter(({ ms }) => ms >= total / 500).map(line),
    'by function',
    ...functions.map(line),
  ].join('\n');
}
