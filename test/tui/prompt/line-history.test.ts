import { expect, test } from 'vitest';
import { reduce } from '../../../src/tui/reduce.ts';
import { initialState } from '../../../src/tui/initial-state.ts';
import { lineHistory } from '../../../src/tui/prompt/typed-lines.ts';
import { Store } from '../../../src/tui/store.ts';

/** A history file that answers when it is told to. */
function slowFile(lines: readonly string[]) {
  const kept = [...lines];
  const open: (() => void)[] = [];
  const turn = (): Promise<void> => new Promise((resolve) => open.push(resolve));
  return {
    path: 'history',
    kept,
    /** What goes wrong from now on. */
    failure: undefined as Error | undefined,
    /** Lets what waits for the file go on, until nothing does. */
    async goOn(): Promise<void> {
      await settled();
      while (open.length > 0) {
        open.shift()?.();
        await settled();
      }
    },
    async load(): Promise<string[]> {
      const read = [...kept];
      await turn();
      return read;
    },
    keeps(line: string): boolean {
      return !line.startsWith(' ');
    },
    async append(line: string): Promise<void> {
      await turn();
      if (this.failure !== undefined) throw this.failure;
      kept.push(line);
    },
  };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function start(lines: readonly string[]) {
  const store = new Store(initialState({ columns: 80, rows: 24 }), reduce);
  const file = slowFile(lines);
  const history = lineHistory(file as never, store);
  return { history, file, shown: () => store.state.prompt.history };
}

test('a line typed while the history is still being read is not lost', async () => {
  const { history, file, shown } = start(['old']);
  void history.load();
  await settled();
  void history.add('typed at once');
  expect(shown()).toEqual(['typed at once']);
  await file.goOn();
  expect(shown()).toEqual(['old', 'typed at once']);
  expect(file.kept).toEqual(['old', 'typed at once']);
});

test('read again while a line is being kept, the history has it once', async () => {
  const { history, file, shown } = start(['old']);
  void history.load();
  await file.goOn();
  void history.add('new');
  void history.load();
  void history.add('newer');
  await file.goOn();
  await history.saved();
  expect(shown()).toEqual(['old', 'new', 'newer']);
});

test('a line that must not be kept never comes back, not even before the file is written', async () => {
  const { history, file, shown } = start([]);
  void history.add('first');
  void history.add(' secret');
  expect(shown()).toEqual(['first']);
  await file.goOn();
  expect(file.kept).toEqual(['first']);
});

test('what goes wrong with one line does not keep the next one from being saved', async () => {
  const { history, file, shown } = start([]);
  file.failure = new Error('EIO');
  const failing = expect(history.add('lost')).rejects.toThrow('EIO');
  await file.goOn();
  await failing;
  file.failure = undefined;
  void history.add('kept');
  await file.goOn();
  await history.saved();
  expect(file.kept).toEqual(['kept']);
  expect(shown()).toEqual(['lost', 'kept']);
});
