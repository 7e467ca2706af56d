import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './pages.ts';

const page = await readFile(join(ROOT, 'docs/architecture.md'), 'utf8');

/** Each row of the way of a line: a room, and a function or class, or the method of a class, in it. */
const entryPoints = [...page.matchAll(/^\| `(src[\w/-]*)` \| `([\w.]+)` \|/gm)].map(
  ([, room = '', name = '']) => ({ room, name }),
);

/** Every source of the room and of the rooms in it: files may be cut as they read best. */
async function sources(room: string): Promise<string[]> {
  const names = await readdir(join(ROOT, room), { recursive: true });
  const files = names.filter((name) => /\.tsx?$/.test(name));
  return Promise.all(files.map((name) => readFile(join(ROOT, room, name), 'utf8')));
}

test('the way of a line is short enough to walk', () => {
  expect(entryPoints.length).toBeGreaterThanOrEqual(12);
  expect(entryPoints.length).toBeLessThanOrEqual(15);
});

test.each(entryPoints)('$name is in $room', async ({ room, name }) => {
  const [owner = '', method] = name.split('.');
  const declared = new RegExp(`^export (?:async )?(?:class|function\\*?) ${owner}\\b`, 'm');
  const texts = (await sources(room)).filter((text) => declared.test(text));
  expect(texts).toHaveLength(1);
  if (method !== undefined) {
    expect(texts[0]).toMatch(new RegExp(`^ {2}(?:async )?\\*?${method}[(<]`, 'm'));
  }
});

test('every folder of src and every room in one is told, and no other', async () => {
  const told = [...page.matchAll(/^\| `(src\/[\w/-]+)` \| (?!`[\w.]+` \|)/gm)].map(
    ([, room = '']) => room,
  );
  const entries = await readdir(join(ROOT, 'src'), { recursive: true, withFileTypes: true });
  const rooms = entries
    .filter((one) => one.isDirectory())
    .map((one) => relative(ROOT, join(one.parentPath, one.name)));
  // What is inside a room is told with it.
  expect(told.sort()).toEqual(rooms.filter((room) => room.split(sep).length <= 3).sort());
});
