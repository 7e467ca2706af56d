import { beforeAll, describe, expect, test } from 'vitest';
import { hasUnsafe } from '../../src/text/visible.ts';
import { FAULTS, type FaultName } from '../simulator/faults.ts';
import { OPERATIONS, isPossible, runCell, type Outcome } from './cell.ts';
import { EXPECTED, type Expected } from './expected.ts';
import { isLong } from '../rounds.ts';

/** How many cells run at a time; most of them only wait. */
const AT_A_TIME = 14;

const EXIT_CODES: Readonly<Record<string, readonly number[]>> = {
  listed: [0],
  done: [0],
  unchanged: [0],
  'no effect': [1],
  differs: [1],
  // Depends on the cause: a refusal, the login, the connection, devsh itself.
  failed: [1, 4, 5, 6],
  unknown: [3],
  drift: [7],
  usage: [2],
  protocol: [1],
  rejected: [1],
  unauthorized: [4],
  forbidden: [4],
  unreachable: [5],
  untrusted: [5],
};

/** A write is sent again after a 429 if the read-back shows no change. */
const IS_ASKED_AGAIN = ['429'];

/** Too large for many devices in one process; limits.test.ts covers it. */
const TOO_LARGE: readonly FaultName[] = ['million-names'];

/** One record comes instead of the list, and devsh cannot know better. */
const SHOWS_ANOTHER_STATE = ['lone-object'];

/** Who refuses a write and carries it out is taken at its word: somebody else may have done the same. */
const REFUSES_AND_STORES = /^4\d+-after-storing$/;

/**
 * The cells to run: in `npm test` one of the writes that end alike under a fault, which is another one with the next
 * fault; in `npm run test:long` all.
 */
const CELLS = isLong ? EXPECTED : EXPECTED.filter(isOneOfItsKind);

const runs = new Map<Expected, Promise<Outcome>>();
const texts = new Map<Expected, Promise<Outcome>>();

/** Starts all cells, a few at a time; each test waits for its own. */
beforeAll(() => {
  const waiting: (() => Promise<unknown>)[] = [];
  const later = <Result>(run: () => Promise<Result>): Promise<Result> => {
    const result = new Promise<Result>((resolve, reject) => {
      waiting.push(() => run().then(resolve, reject));
    });
    // The test that waits for it gets the error.
    result.catch(() => undefined);
    return result;
  };
  for (const cell of CELLS) {
    runs.set(
      cell,
      later(() => runCell(cell.fault, cell.door)),
    );
  }
  for (const cell of EXPECTED.filter(isShownAsText)) {
    texts.set(
      cell,
      later(() => runCell(cell.fault, cell.door, '')),
    );
  }
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await next();
  };
  for (let index = 0; index < AT_A_TIME; index += 1) void work();
});

function isOneOfItsKind(cell: Expected): boolean {
  const isWrite = ({ door }: Expected): boolean => ['add', 'set', 'delete'].includes(door);
  const writes = EXPECTED.filter((one) => one.fault === cell.fault && isWrite(one));
  const isAlike = ({ end, writes }: Expected): boolean =>
    end === cell.end && writes === cell.writes;
  if (!isWrite(cell) || !writes.every(isAlike)) return true;
  const nth = FAULTS.findIndex(({ name }) => name === cell.fault);
  return writes[nth % writes.length] === cell;
}

function isShownAsText({ fault, door }: Expected): boolean {
  return door === 'list' || (door === 'set' && /^text-|-escapes$|^html-page$/.test(fault));
}

describe('a device with', () => {
  test.each(CELLS)(
    '$fault: $door ends with $end',
    async (cell) => {
      const outcome = await outcomeOf(runs, cell);
      const { end, exitCode, writes, isApplied, stdout, stderr } = outcome;
      // The message of a failed check, without 10 MB of output.
      const output = `${stdout.slice(0, 2000)}\n${stderr.slice(0, 2000)}`;

      if (cell.end === 'no answer') expect(['unreachable', 'protocol']).toContain(end);
      else expect(end, output).toBe(cell.end);
      expect(writes, output).toBe(cell.writes);
      if (!IS_ASKED_AGAIN.includes(cell.fault)) expect(writes).toBeLessThanOrEqual(1);
      expect(EXIT_CODES[end], output).toContain(exitCode);
      expect(unsafeLine(`${stdout}\n${stderr}`)).toBeUndefined();

      // No false claim.
      if (end === 'done') expect(isApplied, output).toBe(true);
      const isOwn = !REFUSES_AND_STORES.test(cell.fault);
      const isDenied = isOwn && ['failed', 'no effect', 'unchanged'].includes(end);
      if (isDenied && cell.door !== 'list' && !SHOWS_ANOTHER_STATE.includes(cell.fault)) {
        expect(isApplied, output).toBe(false);
      }
    },
    60_000,
  );

  test.each(EXPECTED.filter(isShownAsText))(
    '$fault: $door prints no control characters',
    async (cell) => {
      const { stdout, stderr, exitCode } = await outcomeOf(texts, cell);
      expect(unsafeLine(`${stdout}\n${stderr}`)).toBeUndefined();
      expect(exitCode).not.toBe(70);
    },
    60_000,
  );
});

describe('the matrix', () => {
  test('has every fault in every operation that it can strike', () => {
    const cells = EXPECTED.map(({ fault, door }) => `${fault}: ${door}`);
    const faults = FAULTS.filter(({ name }) => !TOO_LARGE.includes(name));
    const possible = faults.flatMap(({ name }) =>
      OPERATIONS.filter((door) => isPossible(name, door)).map((door) => `${name}: ${door}`),
    );
    expect([...cells].sort()).toEqual([...possible].sort());
    expect(FAULTS.length).toBeGreaterThanOrEqual(80);
  });

  test('has one name and one sentence for each fault', () => {
    expect(new Set(FAULTS.map(({ name }) => name)).size).toBe(FAULTS.length);
    for (const { summary } of FAULTS) expect(summary).toMatch(/^[0-9A-Z].*[.]$/);
  });
});

function outcomeOf(from: Map<Expected, Promise<Outcome>>, cell: Expected): Promise<Outcome> {
  const outcome = from.get(cell);
  if (outcome === undefined) throw new RangeError(`${cell.fault}: ${cell.door} was not run`);
  return outcome;
}

// Joiners are part of emoji in simulated names. On a line of 10 MB this expression would take minutes.
const EMOJI = new RegExp('\\p{RGI_Emoji}', 'gv');

function unsafeLine(text: string): string | undefined {
  // Tabs separate columns.
  const lines = text.replaceAll('\t', '').split('\n');
  return lines.find((line) => hasUnsafe(line) && hasUnsafe(line.replace(EMOJI, '')));
}
