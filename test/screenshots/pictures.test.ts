import { access } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { PICTURES } from '../../scripts/screenshots/pictures.ts';
import { readPages } from '../docs/pages.ts';

const ROOT = new URL('../../', import.meta.url);

test('every picture was taken, and a page shows it with words for those who do not see it', async () => {
  const pages = readPages().map(({ text }) => text);
  for (const { name } of PICTURES) {
    await access(new URL(`pictures/${name}.svg`, ROOT));
    expect(pages.join('\n')).toMatch(
      new RegExp(`!\\[[^\\]]{20,}\\]\\((?:\\.\\./)*pictures/${name}\\.svg\\)`),
    );
  }
});
