import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { play, startStory } from './play.ts';
import { parseTranscript } from './transcript.ts';

const folder = fileURLToPath(new URL('.', import.meta.url));
const stories = readdirSync(folder).filter((name) => name.endsWith('.txt'));

/** Updates the transcripts with the current output; read the diff. */
const isUpdate = process.env['UPDATE_TRANSCRIPTS'] === '1';

test.each(stories)('%s', async (name) => {
  const source = readFileSync(folder + name, 'utf8');
  const { setup, entries } = parseTranscript(source);
  const fleet = await startStory(setup);
  const output: string[] = [];
  for (const entry of entries) output.push(await play(entry, fleet));
  const expected = entries.map(({ text }) => text);
  if (isUpdate) {
    writeFileSync(folder + name, [setup.text, ...output].join('\n'));
    return;
  }
  expect(output).toEqual(expected);
});
