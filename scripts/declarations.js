// Writes api.d.ts and simulator.d.ts into dist, or into FOLDER: the public types of each in one file.
import { basename, join, resolve } from 'node:path';
import { rollup } from 'rollup';
import { dts } from 'rollup-plugin-dts';

const root = resolve(import.meta.dirname, '..');
const folder = resolve(root, process.argv[2] ?? 'dist');
for (const source of ['api.ts', 'simulator/simulator.ts']) {
  const bundle = await rollup({
    input: join(root, 'src', source),
    external: /^node:/,
    plugins: [
      dts({ tsconfig: join(root, 'tsconfig.json'), compilerOptions: { stripInternal: true } }),
    ],
  });
  await bundle.write({ file: join(folder, basename(source).replace(/ts$/, 'd.ts')) });
  await bundle.close();
}
