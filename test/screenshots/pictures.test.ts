import { access, readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { PICTURES } from '../../scripts/screenshots/pictures.ts';

const ROOT = new URL('../../', import.meta.url);

test('every picture was taken, and the README shows it with words for those who do not see it', async () => {
  const readme = await readFile(new URL('README.md', ROOT), 'utf8');
  for (const { name } of PICTURES) {
    await access(new URL(`pictures/${name}.svg`, ROOT));
    expect(readme).toMatch(new RegExp(`!\\[[^\\]]{20,}\\]\\(pictures/${name}\\.svg\\)`));
  }
});
