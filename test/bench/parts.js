// Parts of the source that are measured separately, bundled for Node.
import { pathToFileURL } from 'node:url';
import esbuild from 'esbuild';

const SOURCE = `
  export { decodeList } from './src/device/decode.ts';
  export { sortBy } from './src/fleet/sort.ts';
  export { createFleetData } from './src/simulator/data.ts';
  export { HistoryFiles } from './src/history/history-files.ts';
  export { HistoryWriter } from './src/history/observer.ts';
  export { createCertificate } from './src/simulator/certificate.ts';
`;

/** Resolves to the module of a build. */
export async function bundleParts(built) {
  const outfile = built.parts;
  await esbuild.build({
    stdin: { contents: SOURCE, resolveDir: built.source },
    bundle: true,
    platform: 'node',
    format: 'esm',
    sourcemap: 'external',
    outfile,
  });
  return import(pathToFileURL(outfile).href);
}
