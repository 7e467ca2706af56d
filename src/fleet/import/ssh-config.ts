import { UsageError } from '../../errors.ts';
import type { WrittenSettings } from '../written-inventory.ts';
import { someOf } from '../../text/one-line.ts';
import type { Findings, FoundDevice } from './source.ts';
import { matchesGlob } from '../../text/glob.ts';

/** The nesting limit of includes, as in ssh. */
const MAX_DEPTH = 16;
/** Limits a file that includes itself many times. */
const MAX_LINES = 200_000;

/** Each is tried for every host, which takes quadratic time. */
const MAX_PATTERN_BLOCKS = 500;

/** Reads the files that an `Include` names, with `*` and `?` expanded; none if there are none. */
export type ReadIncluded = (
  pattern: string,
) => Promise<readonly { readonly file: string; readonly text: string }[]>;

interface Line {
  readonly keyword: string;
  readonly words: readonly string[];
  readonly place: string;
}

/** The content of one `Host` section, or of the part before the first. */
interface Block {
  readonly patterns: readonly string[];
  readonly options: ReadonlyMap<string, string>;
  readonly place: string;
}

/**
 * Reads the hosts of an ssh_config(5): each name without a wildcard is a device with the options of all
 * matching blocks; the first value wins. Skips `Match` blocks, because they may run programs, and ports,
 * because ssh listens there. Throws a UsageError.
 */
export async function parseSshConfig(
  text: string,
  file: string,
  readIncluded: ReadIncluded,
): Promise<Findings> {
  const lines = await linesOf(text, file, readIncluded, 0, { left: MAX_LINES });
  const { blocks, matches } = blocksOf(lines, file);
  const blocksFor = indexBlocks(blocks);
  const seen = new Set<string>();
  const devices: FoundDevice[] = [];
  const remarks: string[] = [];
  if (matches > 0) {
    const blocks = matches === 1 ? 'a Match block was' : `${matches} Match blocks were`;
    remarks.push(`${blocks} left out: devsh runs no programs for an import`);
  }
  const commands: string[] = [];
  const several: string[] = [];
  for (const { patterns, place } of blocks) {
    for (const name of patterns) {
      if (/[*?!]/.test(name) || seen.has(name)) continue;
      seen.add(name);
      const option = optionsFor(name, blocksFor(name));
      if (option('proxycommand') !== undefined) commands.push(name);
      const jump = option('proxyjump');
      if (jump?.includes(',') === true) several.push(name);
      devices.push({
        name,
        address: (option('hostname') ?? '%h').replace(/%[h%]/g, (mark) =>
          mark === '%h' ? name : '%',
        ),
        groups: [],
        settings: settingsOf(option('user'), jump),
        place,
      });
    }
  }
  if (commands.length > 0) remarks.push(`left out ProxyCommand: ${someOf(commands)}`);
  if (several.length > 0) {
    remarks.push(
      `left out ProxyJump over several hosts: ${someOf(several)} (set a ProxyJump for the last one)`,
    );
  }
  return { devices, groups: [], remarks };
}

function settingsOf(user: string | undefined, jump: string | undefined): WrittenSettings {
  const hasJump = jump !== undefined && !jump.includes(',');
  return {
    ...(user !== undefined && { user }),
    ...(hasJump && { jump: jump.replace(/^ssh:\/\//i, '').replace(/\/$/, '') }),
  };
}

async function linesOf(
  text: string,
  file: string,
  readIncluded: ReadIncluded,
  depth: number,
  budget: { left: number },
): Promise<Line[]> {
  if (depth > MAX_DEPTH) throw new UsageError(`${file}: files include each other in a loop`);
  const lines: Line[] = [];
  let header: Line = { keyword: 'host', words: ['*'], place: file };
  for (const [index, written] of text
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .entries()) {
    budget.left -= 1;
    if (budget.left < 0) throw new UsageError(`${file}: more than ${MAX_LINES} lines in all`);
    const place = `${file}:${index + 1}`;
    const line = lineOf(written, place);
    if (line === undefined) continue;
    if (line.keyword !== 'include') {
      if (line.keyword === 'host') header = line;
      if (line.keyword === 'match') header = { ...line, words: [] };
      lines.push(line);
      continue;
    }
    for (const pattern of line.words) {
      for (const included of await readIncluded(pattern)) {
        const inner = await linesOf(included.text, included.file, readIncluded, depth + 1, budget);
        for (const one of inner) lines.push(one);
      }
    }
    // Lines after the Include belong to the block around it.
    lines.push(header);
  }
  return lines;
}

/** `Keyword value`, `Keyword=value`, `Keyword "a value"`; undefined for a comment or an empty line. */
function lineOf(written: string, place: string): Line | undefined {
  const [, keyword, rest = ''] = /^\s*([A-Za-z][\w-]*)(?:\s*=\s*|\s+|$)(.*)$/.exec(written) ?? [];
  if (keyword === undefined) return undefined;
  const words = Array.from(
    rest.matchAll(/"([^"]*)"|(#.*)|([^\s"]+)/g),
    ([, quoted, comment, plain]) => (comment === undefined ? (quoted ?? plain) : undefined),
  ).filter((word) => word !== undefined);
  return { keyword: keyword.toLowerCase(), words, place };
}

function blocksOf(lines: readonly Line[], file: string): { blocks: Block[]; matches: number } {
  const blocks: Block[] = [];
  let matches = 0;
  // Options before the first Host line apply to all hosts.
  let options = new Map<string, string>();
  blocks.push({ patterns: ['*'], options, place: file });
  for (const { keyword, words, place } of lines) {
    if (keyword === 'host' || keyword === 'match') {
      options = new Map();
      if (keyword === 'host') blocks.push({ patterns: words, options, place });
      else if (words.length > 0) matches += 1;
      continue;
    }
    const [value] = words;
    if (value !== undefined && !options.has(keyword)) options.set(keyword, value);
  }
  return { blocks, matches };
}

/** Most blocks name one host: only those with patterns are tried for all. */
function indexBlocks(blocks: readonly Block[]): (name: string) => Block[] {
  const general: number[] = [];
  const named = new Map<string, number[]>();
  for (const [index, { patterns }] of blocks.entries()) {
    if (patterns.some((pattern) => /[*?!]/.test(pattern))) general.push(index);
    else for (const name of patterns) named.set(name, [...(named.get(name) ?? []), index]);
  }
  if (general.length > MAX_PATTERN_BLOCKS) {
    const text = `devsh reads at most ${MAX_PATTERN_BLOCKS} Host lines with wildcards`;
    throw new UsageError(`${blocks[general[0] ?? 0]?.place ?? ''}: ${text}`);
  }
  return (name) =>
    [...general, ...(named.get(name) ?? [])]
      .sort((a, b) => a - b)
      .flatMap((at) => blocks[at] ?? []);
}

function optionsFor(
  name: string,
  blocks: readonly Block[],
): (keyword: string) => string | undefined {
  const matching = blocks.filter(({ patterns }) => isMatch(name, patterns));
  return (keyword) => {
    const value = matching.find(({ options }) => options.has(keyword))?.options.get(keyword);
    return value?.toLowerCase() === 'none' && keyword.startsWith('proxy') ? undefined : value;
  };
}

/** A matching `!` pattern excludes a host, whatever the others match. */
function isMatch(name: string, patterns: readonly string[]): boolean {
  const matches = (pattern: string): boolean => matchesGlob(name, pattern);
  const negative = patterns.filter((pattern) => pattern.startsWith('!'));
  if (negative.some((pattern) => matches(pattern.slice(1)))) return false;
  return patterns.some((pattern) => !pattern.startsWith('!') && matches(pattern));
}
