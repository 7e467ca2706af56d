import { expect, test } from 'vitest';
import { LineMarks } from '../../../src/tui/terminal/render.ts';

test('a frame of marks becomes a frame of lines, whatever they hold', () => {
  const marks = new LineMarks();
  const lines = ['', 'alice', '\ue000 is text here', '\x1b[7m表示\x1b[0m', 'alice', '$&'];
  const frame = lines.map((line) => marks.markOf(line)).join('\n');
  expect(frame).toMatch(/^[\ue000-\uf8ff](\n[\ue000-\uf8ff]){5}$/);
  expect(marks.restored(frame)).toBe(lines.join('\n'));
});

test('marks of unused lines are given to other lines', () => {
  const marks = new LineMarks();
  const kept = marks.markOf('kept');
  const others = Array.from({ length: 10_000 }, (_, line) => {
    expect(marks.markOf('kept')).toBe(kept);
    return marks.markOf(`line ${line}`);
  });
  expect(others).not.toContain(kept);
  expect(new Set(others).size).toBeLessThan(6400);
  expect(marks.restored(`${kept}\n${others.at(-1)}`)).toBe('kept\nline 9999');
});
