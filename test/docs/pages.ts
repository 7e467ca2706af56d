import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');

/** A page that people read, by its path from the root of the repository. */
export interface Page {
  readonly path: string;
  readonly text: string;
}

/** Every page: those at the root, all of `docs/`, and the stories of the tests. */
export function readPages(): Page[] {
  const root = readdirSync(ROOT).filter((name) => name.endsWith('.md'));
  const docs = readdirSync(join(ROOT, 'docs')).map((name) => `docs/${name}`);
  return [...root, ...docs, 'test/pty/stories/README.md'].map((path) => ({
    path,
    text: readFileSync(join(ROOT, path), 'utf8'),
  }));
}
