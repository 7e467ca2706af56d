import { openScreen } from './screen.js';

/** Resolves when all records are read and the table has the focus. */
export async function openTable({ command }, { env }, size) {
  const screen = openScreen([...command, 'connect', '@fleet'], { ...size, env });
  await screen.shows(/connected to/);
  await screen.shows(/[1-9]\d* records|[1-9]\d*: \d+ same/);
  await screen.quiet(1000);
  await screen.press('\x1b');
  await screen.shows(/: prompt/);
  await screen.quiet(300);
  return screen;
}
