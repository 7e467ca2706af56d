// Writes the manual in the roff of man(1), from what the commands say of themselves.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import esbuild from 'esbuild';

/** @param options as for the bundle that the manual is about */
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

/** The day of the build; a build that is to be repeated says which (reproducible-builds.org). */
function today() {
  const seconds = Number(process.env.SOURCE_DATE_EPOCH);
  const date = Number.isInteger(seconds) && seconds > 0 ? new Date(seconds * 1000) : new Date();
  return date.toISOString().slice(0, 10);
}
