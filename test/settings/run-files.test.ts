import { open, readFile } from 'node:fs/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { RunFiles } from '../../src/settings/run-files.ts';
import { makeTempFolder } from './temp-folder.ts';

test('lines of many devices at once are whole, in order, and there when they are said to be', async () => {
  const files = new RunFiles(await makeTempFolder());
  const file = await files.create('20260101-120000-abc');
  const lines = Array.from({ length: 200 }, (_, index) => `{"line":${index}}\n`);
  await Promise.all(
    lines.map(async (line) => {
      await file.append(line);
      expect(await readFile(file.path, 'utf8')).toContain(line);
    }),
  );
  await file.close();
  expect(await readFile(file.path, 'utf8')).toBe(lines.join(''));
});

test('lines that arrive during a sync share the next one, and none counts as kept before its own', async () => {
  const folder = await makeTempFolder();
  const handle = await open(folder);
  await handle.close();
  const prototype = Object.getPrototypeOf(handle) as typeof handle;
  const syncs: (() => void)[] = [];
  const datasync = vi
    .spyOn(prototype, 'datasync')
    .mockImplementation(() => new Promise((resolve) => void syncs.push(resolve)));
  onTestFinished(() => {
    datasync.mockRestore();
  });
  const file = await new RunFiles(folder).create('20260101-120000-jkl');
  const kept: string[] = [];
  const append = async (line: string): Promise<void> => {
    await file.append(line);
    kept.push(line);
  };
  const first = append('a\n');
  await vi.waitUntil(() => syncs.length === 1, 10_000);
  const others = Promise.all(['b\n', 'c\n', 'd\n'].map(append));
  expect(kept).toEqual([]);
  syncs[0]?.();
  await first;
  await vi.waitUntil(() => syncs.length === 2, 10_000);
  // A crash here finds the lines, but no request has been sent for them.
  expect(await readFile(file.path, 'utf8')).toBe('a\nb\nc\nd\n');
  expect(kept).toEqual(['a\n']);
  syncs[1]?.();
  await others;
  expect(kept).toEqual(['a\n', 'b\n', 'c\n', 'd\n']);
  await file.close();
  expect(datasync).toHaveBeenCalledTimes(2);
});

test('all who wait for the same lines hear that they could not be written', async () => {
  const files = new RunFiles(await makeTempFolder());
  const file = await files.create('20260101-120000-def');
  await file.close();
  const writing = await Promise.allSettled(['a\n', 'b\n', 'c\n'].map((line) => file.append(line)));
  expect(writing.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
});

test.each(['EINVAL', 'ENOTSUP'])(
  'a journal begins on a file system whose folders cannot be put on the disk: %s',
  async (code) => {
    const folder = await makeTempFolder();
    const handle = await open(folder);
    await handle.close();
    const prototype = Object.getPrototypeOf(handle) as typeof handle;
    const sync = vi
      .spyOn(prototype, 'sync')
      .mockRejectedValue(Object.assign(new Error(), { code }));
    onTestFinished(() => {
      sync.mockRestore();
    });
    const file = await new RunFiles(folder).create('20260101-120000-ghi');
    await file.append('{}\n');
    await file.close();
    expect(sync).toHaveBeenCalledTimes(1);
    expect(await readFile(file.path, 'utf8')).toBe('{}\n');
  },
);
