// Parts of the source that are measured separately, bundled for Node.
import { join } from 'node:path';
import esbuild from 'esbuild';

const SOURCE = `
  export { decodeList } from './src/device/decode.ts';
  export { sortBy } from './src/fleet/sort.ts';
  export { createFleetData } from './src/simulator/data.ts';
  export { createCertificate } from './src/simulator/certificate.ts';
`;

/** Resolves to the path of the module. */
export async function bundleParts({ built }) {
  const outfile = join(built, 'parts.js');
  await esbuild.build({
    stdin: { contents: SOURCE, resolveDir: join(import.meta.dirname, '../..') },
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile,
  });
  return outfile;
}
