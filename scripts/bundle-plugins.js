// Plugins that keep the start small. Each fails the build if a dependency has changed.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { transform } from 'esbuild';
import { editing, replaced } from './edit-package.js';

/**
 * Omits HTTP/2 and the bodies of fetch, and the modules of Node that these load: devsh speaks only
 * HTTP/1.1 and sends texts.
 */
export const undiciHttp1 = {
  name: 'undici-http1',
  setup(build) {
    build.onLoad({ filter: /undici\/lib\/dispatcher\/client-h2\.js$/ }, () => ({
      contents: "module.exports = () => { throw new Error('HTTP/2 was not asked for'); };",
    }));
    build.onLoad({ filter: /undici\/lib\/web\/fetch\/body\.js$/ }, () => ({
      contents: "exports.extractBody = () => { throw new TypeError('a body is a text'); };",
    }));
    // All that it asserts is that a value is true.
    build.onResolve({ filter: /^node:assert$/ }, ({ importer }) =>
      /\/undici\/lib\//.test(importer) ? { path: 'assert', namespace: 'devsh' } : undefined,
    );
    build.onLoad({ filter: /^assert$/, namespace: 'devsh' }, () => ({
      contents:
        "module.exports = (isSo, reason = 'undici asserts more') => { if (!isSo) throw reason instanceof Error ? reason : new Error(reason); };",
    }));
    // The parser is there twice; the one without SIMD runs on every processor.
    build.onResolve({ filter: /\/llhttp_simd-wasm\.js$/ }, ({ path, resolveDir }) => ({
      path: resolve(resolveDir, path.replace('_simd', '')),
    }));
    // undici uses only the limit of a header and the name of a class of node:http.
    build.onResolve({ filter: /^node:http$/ }, ({ importer }) =>
      /undici\/lib\/(dispatcher\/client|core\/util)\.js$/.test(importer)
        ? { path: 'http-limits', namespace: 'devsh' }
        : undefined,
    );
    build.onLoad({ filter: /^http-limits$/, namespace: 'devsh' }, () => ({
      contents:
        'exports.maxHeaderSize = 16384; exports.IncomingMessage = class IncomingMessage {};',
    }));
  },
};

/** Omits the validator of conf: `src/settings` checks the settings itself. A schema would need it. */
export const confWithoutAjv = {
  name: 'conf-without-ajv',
  setup(build) {
    build.onResolve({ filter: /^ajv(-formats)?(\/|$)/ }, ({ importer }) =>
      /\/conf\/dist\/source\/index\.js$/.test(importer)
        ? { path: 'ajv', namespace: 'conf-without-ajv' }
        : undefined,
    );
    build.onLoad({ filter: /^ajv$/, namespace: 'conf-without-ajv' }, () => ({
      contents:
        "export class Ajv2020 { constructor() { throw new Error('conf has no schema here'); } }\n" +
        'export default { default: () => undefined };',
    }));
  },
};

/** Embeds Yoga's program, which it fetches from a data: URL, so that Node does not load fetch. */
export const yogaAtOnce = {
  name: 'yoga-at-once',
  setup(build) {
    build.onLoad({ filter: /yoga-layout\/dist\/src\/index\.js$/ }, async ({ path }) => ({
      contents: replaced(await readFile(path, 'utf8'), path, [
        ['import loadYoga from', 'import loadYoga, { PROGRAM } from'],
        [
          'const Yoga = wrapAssembly(await loadYoga());',
          `const library = {
  instantiateWasm(imports, receive) {
    const program = new WebAssembly.Module(Buffer.from(PROGRAM, 'base64'));
    const instance = new WebAssembly.Instance(program, imports);
    receive(instance);
    return instance.exports;
  },
};
loadYoga(library);
const Yoga = wrapAssembly(library);`,
        ],
      ]),
    }));
    build.onLoad({ filter: /yoga-wasm-base64-esm\.js$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      const [url, program] =
        /"data:application\/octet-stream;base64,([\w+/=]+)"/.exec(source) ?? [];
      if (program === undefined) throw new Error(`${path} has changed: there is no program in it`);
      return { contents: `${source.replace(url, '""')}\nexport const PROGRAM = '${program}';\n` };
    });
  },
};

/** Omits the developer tools of Ink, which waits for them as a CommonJS file cannot. */
export const inkWithoutDevtools = editing('ink-without-devtools', /\/ink\/build\/reconciler\.js$/, [
  ["await import('./devtools.js')", 'undefined'],
  ['await loadPackageJson()', 'undefined'],
]);

/**
 * Writes CommonJS files: those of a program with several files, which esbuild itself writes only as ES modules.
 * Node loads them faster, and keeps compiled code of theirs in version 20, too.
 */
export const asCommonJs = {
  name: 'as-common-js',
  setup(build) {
    const { sourcemap = false } = build.initialOptions;
    build.initialOptions.write = false;
    build.onEnd(async ({ outputFiles }) => {
      const maps = new Map(outputFiles.map(({ path, text }) => [path, text]));
      for (const { path, text } of outputFiles.filter((file) => !file.path.endsWith('.map'))) {
        const map = Buffer.from(maps.get(`${path}.map`) ?? '').toString('base64');
        const comment = `//# sourceMappingURL=data:application/json;base64,${map}`;
        const written = await transform(map === '' ? text : `${text}${comment}`, {
          format: 'cjs',
          platform: 'node',
          target: build.initialOptions.target,
          minifySyntax: true,
          minifyWhitespace: true,
          supported: { 'dynamic-import': false },
          define: { 'import.meta.url': '__filename' },
          sourcemap,
          sourcefile: path,
          logLevel: 'warning',
        });
        await mkdir(dirname(path), { recursive: true });
        await writeFile(path, withPlainExports(written.code, path, map !== ''));
        if (map !== '') await writeFile(`${path}.map`, written.map);
      }
    });
  },
};

/** What esbuild exports by getters, which cost each use of a name from another file a call. */
const GETTERS = /var (\w+)=\{\};\w+\(\1,\{([^}]*)\}\);module\.exports=\w+\(\1\);/;

/** Exports the values themselves, at the end. Throws an Error if one of them is assigned a second time. */
function withPlainExports(code, path, hasMap) {
  const [all, , getters] = GETTERS.exec(code) ?? [];
  if (all === undefined) throw new Error(`${path} exports nothing in the way of esbuild`);
  const pairs = getters.split(',').map((pair) => pair.split(':()=>'));
  for (const [, name] of pairs) {
    const own = `(?<![.#\\w$])${name.replaceAll('$', '\\$&')}`;
    const assigned =
      code.match(new RegExp(`${own}(?:=(?![=>])|\\+\\+|--|[-+*/%&|^?<>]+=(?!=))`, 'g')) ?? [];
    const isDeclaration = new RegExp(`(?:function\\*?|class) ${own}(?![\\w$])`).test(code);
    if (assigned.length > (isDeclaration ? 0 : 1)) {
      throw new Error(`${path} assigns ${name} again: other files would see its first value`);
    }
  }
  const values = pairs.map(([as, name]) => (as === name ? name : `${as}:${name}`));
  // As long as before: a source map counts columns.
  const rest = code.replace(all, hasMap ? ' '.repeat(all.length) : '').trimEnd();
  // esbuild leaves other characters in regular expressions; Node takes half of the memory for ASCII.
  const text = hasMap ? rest : rest.replace(/[^\0-\x7f]/g, escaped);
  return `${text}module.exports={__esModule:true,${values.join(',')}};\n`;
}

function escaped(unit) {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** What `cli.ts` imports is a program of its own, of which compiled code is kept. @param files by specifier */
export function compiledParts(files) {
  return {
    name: 'compiled-parts',
    setup(build) {
      build.onResolve({ filter: /./ }, ({ path }) =>
        Object.hasOwn(files, path) ? { path, namespace: 'compiled' } : undefined,
      );
      build.onLoad({ filter: /./, namespace: 'compiled' }, ({ path }) => ({
        contents: `
const { CompiledProgram } = require('./compiled-program.ts');
module.exports = new CompiledProgram(__dirname, process).load('./${files[path]}');`,
        resolveDir: resolve(import.meta.dirname, '../src'),
      }));
    },
  };
}

/**
 * For bundles that read the commands and run none: completion for a shell, and the manual. Omits the
 * network, and modules that commands import at run time, unless their paths match `kept`.
 */
export function grammarAlone(kept) {
  return {
    name: 'grammar-alone',
    setup(build) {
      const nothing = { path: 'nothing', namespace: 'devsh' };
      build.onResolve({ filter: /^undici\/lib\// }, () => nothing);
      build.onResolve({ filter: /./ }, ({ kind, path, importer }) =>
        kind === 'dynamic-import' && !kept.test(resolve(importer, '..', path))
          ? nothing
          : undefined,
      );
      build.onLoad({ filter: /^nothing$/, namespace: 'devsh' }, () => ({
        contents: 'export default undefined;',
      }));
    },
  };
}

/**
 * Lets each module that is imported at run time import `main`, too. Otherwise esbuild splits the modules
 * of a start into several files, by who else imports them.
 */
export function oneFileFor(main, lateModules) {
  const late = new Set(lateModules.map((path) => resolve(path)));
  return {
    name: 'one-file-for-main',
    setup(build) {
      build.onLoad({ filter: /\/src\/.*\.tsx?$/ }, async ({ path }) =>
        late.has(path) && path !== main
          ? {
              contents: `${await readFile(path, 'utf8')}\nimport ${JSON.stringify(main)};\n`,
              loader: path.endsWith('x') ? 'tsx' : 'ts',
            }
          : undefined,
      );
    },
  };
}
