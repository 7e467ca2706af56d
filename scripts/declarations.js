// Writes dist/api.d.ts, or FOLDER/api.d.ts: the public types of src/api.ts in one file, with nothing of
// what is behind them.
import { join, resolve } from 'node:path';
import { rollup } from 'rollup';
import { dts } from 'rollup-plugin-dts';

const root = resolve(import.meta.dirname, '..');
const bundle = await rollup({
  input: join(root, 'src/api.ts'),
  external: /^node:/,
  plugins: [
    dts({ tsconfig: join(root, 'tsconfig.json'), compilerOptions: { stripInternal: true } }),
  ],
});
await bundle.write({ file: join(resolve(root, process.argv[2] ?? 'dist'), 'api.d.ts') });
await bundle.close();
