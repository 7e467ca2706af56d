// Writes the manual as roff for man(1), from the specs of the commands.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import esbuild from 'esbuild';

/** @param options esbuild options of the bundle */
export async function writeManual(file, version, options) {
  await mkdir(dirname(file), { recursive: true });
  const folder = await mkdtemp(join(dirname(file), 'manual-'));
  try {
    const outfile = join(folder, 'man-page.js');
    const entryPoints = ['src/shell/help/man-page.ts'];
    await esbuild.build({ ...options, outdir: undefined, outfile, entryPoints });
    const { manPage } = await import(pathToFileURL(outfile).href);
    await writeFile(file, await manPage(version, today()));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The day of the build; SOURCE_DATE_EPOCH overrides it (reproducible-builds.org). */
function today() {
  const seconds = Number(process.env.SOURCE_DATE_EPOCH);
  const date = Number.isInteger(seconds) && seconds > 0 ? new Date(seconds * 1000) : new Date();
  return date.toISOString().slice(0, 10);
}
