import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT, run } from '../package/programs.ts';

interface Release {
  readonly publishedManifest: (
    manifest: object,
    given: Record<string, string | undefined>,
  ) => object;
  readonly withAbsoluteLinks: (page: string, given: Record<string, string>) => string;
}
const script = join(ROOT, 'scripts/release.js');
const { publishedManifest, withAbsoluteLinks } = (await import(script)) as Release;

const repository = 'https://github.com/owner/devsh.git';
const author = 'Jo <jo@example.org>';

test.each([
  [['--repository', repository], '--author must be given'],
  [['--author', author], '--repository must be given'],
  [['--author', author, '--repository', ''], '--repository must be given'],
  [['--author', author, '--repository', 'github:owner/devsh'], 'is not like https://'],
])('a release with %j is refused, and nothing is packed', async (args, message) => {
  const { code, stderr, stdout } = await run(process.execPath, [script, '--publish', ...args]);
  expect(stderr).toContain(message);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
});

test('the published manifest has all addresses', () => {
  expect(publishedManifest({ name: 'devsh' }, { repository, author })).toEqual({
    name: 'devsh',
    author,
    homepage: 'https://github.com/owner/devsh#readme',
    bugs: { url: 'https://github.com/owner/devsh/issues' },
    repository: { type: 'git', url: 'git+https://github.com/owner/devsh.git' },
  });
});

test('the published README names the repository and has no relative link', async () => {
  const page = withAbsoluteLinks(await readFile(join(ROOT, 'README.md'), 'utf8'), {
    repository,
    version: '1.2.3',
  });
  expect(page).toContain('(https://github.com/owner/devsh/blob/v1.2.3/docs/trust.md)');
  expect(page).toContain('(https://github.com/owner/devsh/raw/v1.2.3/pictures/connect.svg)');
  expect(page).toContain('git clone https://github.com/owner/devsh.git');
  expect(page).not.toContain('OWNER');
  const relative = [...page.matchAll(/\]\(([^)\s]+)\)|(?:src|href|srcset)="([^"]+)"/g)]
    .map(([, link, attribute]) => link ?? attribute ?? '')
    .filter((link) => !/^https:|^#/.test(link));
  expect(relative).toEqual([]);
});

test('every action of the workflows is pinned by its digest', async () => {
  const folder = join(ROOT, '.github/workflows');
  const texts = (await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8'));
  const uses = (await Promise.all(texts)).join('').match(/uses: .*/g) ?? [];
  expect(uses.length).toBeGreaterThan(5);
  expect(uses.filter((one) => !/^uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d/.test(one))).toEqual([]);
});
