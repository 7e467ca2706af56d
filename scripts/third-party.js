// The packages in the bundle: their licences, and the bill of materials.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Names of the files that a licence requires to be shipped. */
const LICENSE_FILE = /^(licen[cs]e|copying|notice|ofl)([.-].*)?$/i;

/**
 * The packages in the bundle, by name.
 * @param metafile of esbuild, with paths relative to `root`
 * @returns {{name: string, version: string, license: string, folder: string}[]}
 */
export function bundledPackages(root, metafile) {
  const folders = Object.values(metafile.outputs)
    .flatMap((output) => Object.entries(output.inputs))
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
    .flatMap(([path]) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? []);
  const packages = [...new Set(folders)].map((folder) => describe(join(root, folder)));
  // The same version may be in several folders.
  return [...new Map(packages.map((one) => [purl(one), one])).values()].sort((a, b) =>
    purl(a) < purl(b) ? -1 : 1,
  );
}

function describe(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  if (typeof license !== 'string')
    throw new Error(`${name} does not say under which licence it is`);
  return { name, version, license, folder };
}

/** One text with the licence of each package. Throws if a package has none: it must not be shipped. */
export function notices(packages) {
  const parts = packages.map(({ name, version, license, folder }) => {
    const texts = licenseTexts(name, folder);
    if (texts.length === 0) {
      throw new Error(
        `${name} ${version} comes without the text of its licence: put it into scripts/licenses`,
      );
    }
    return [`${name} ${version} (${license})`, ...texts].join('\n\n');
  });
  const intro = 'devsh contains parts of the packages below, each under its own licence.';
  return `${[intro, ...parts].join(`\n\n${'-'.repeat(72)}\n\n`)}\n`;
}

/** The files of the package, or else the text from its repository. */
function licenseTexts(name, folder) {
  const files = readdirSync(folder).filter((file) => LICENSE_FILE.test(file));
  const own = join(import.meta.dirname, 'licenses', `${name.replace('/', '+')}.txt`);
  const paths = files.length > 0 ? files.map((file) => join(folder, file)) : [own];
  return paths.filter((path) => existsSync(path)).map((path) => readFileSync(path, 'utf8').trim());
}

/**
 * The bill of materials as CycloneDX 1.5: the packages in the bundle, and the optional ones that an
 * installation adds. `npm sbom` reports the first as development tools.
 */
export function billOfMaterials(root, packages) {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const optional = Object.keys(manifest.optionalDependencies).map((name) => {
    const { version, license } = lock.packages[`node_modules/${name}`];
    return { name, version, license, folder: join(root, 'node_modules', name) };
  });
  const integrityOf = ({ name, version }) =>
    Object.entries(lock.packages).find(
      ([path, entry]) => path.endsWith(`node_modules/${name}`) && entry.version === version,
    )?.[1].integrity;
  const component = (scope) => (one) => ({
    type: 'library',
    'bom-ref': purl(one),
    name: one.name,
    version: one.version,
    scope,
    purl: purl(one),
    hashes: hashes(integrityOf(one)),
    licenses: [licenseChoice(one.license)],
  });
  const self = { name: manifest.name, version: manifest.version };
  const bom = {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: {
      tools: { components: [toolOf(root, 'esbuild'), { ...self, type: 'application' }] },
      component: {
        type: 'application',
        'bom-ref': purl(self),
        ...self,
        purl: purl(self),
        licenses: [licenseChoice(manifest.license)],
      },
    },
    components: [...packages.map(component('required')), ...optional.map(component('optional'))],
    dependencies: [{ ref: purl(self), dependsOn: [...packages, ...optional].map(purl) }],
  };
  return numbered(bom);
}

/** The version of a package that made the bundle. */
function toolOf(root, name) {
  const { version } = describe(join(root, 'node_modules', name));
  return { type: 'application', name, version, purl: purl({ name, version }) };
}

/** The text of a bill. The same content has the same serial number, so that a build can be repeated. */
function numbered({ $schema, bomFormat, specVersion, ...content }) {
  const digest = createHash('sha256').update(JSON.stringify(content)).digest('hex');
  // A UUID of version 8: the digits are the maker's own (RFC 9562).
  const [, a, b, c, d, e] = /^(.{8})(.{4}).(.{3}).(.{3})(.{12})/.exec(digest);
  const serialNumber = `urn:uuid:${a}-${b}-8${c}-8${d}-${e}`;
  const bom = { $schema, bomFormat, specVersion, serialNumber, ...content };
  return `${JSON.stringify(bom, undefined, 2)}\n`;
}

/**
 * The bill of a tarball that includes Node.
 *
 * @param text the bill of the program
 * @param versions `process.versions` of that Node
 */
export function withNode(text, versions) {
  const { serialNumber: _ofProgram, ...bom } = JSON.parse(text);
  const node = {
    type: 'platform',
    'bom-ref': `pkg:generic/node@${versions.node}`,
    name: 'node',
    version: versions.node,
    scope: 'required',
    purl: `pkg:generic/node@${versions.node}`,
    cpe: `cpe:2.3:a:nodejs:node.js:${versions.node}:*:*:*:*:*:*:*`,
  };
  const openssl = {
    type: 'library',
    'bom-ref': `pkg:generic/openssl@${encodeURIComponent(versions.openssl)}`,
    name: 'openssl',
    version: versions.openssl,
    scope: 'required',
    purl: `pkg:generic/openssl@${encodeURIComponent(versions.openssl)}`,
    cpe: `cpe:2.3:a:openssl:openssl:${versions.openssl.replace(/\+.*/, '')}:*:*:*:*:*:*:*`,
  };
  const [own] = bom.dependencies;
  return numbered({
    ...bom,
    components: [...bom.components, node, openssl],
    dependencies: [
      { ...own, dependsOn: [...own.dependsOn, node['bom-ref']] },
      { ref: node['bom-ref'], dependsOn: [openssl['bom-ref']] },
    ],
  });
}

function purl({ name, version }) {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

/** `(MIT OR CC0-1.0)` is an expression, `MIT` an id. */
function licenseChoice(license) {
  return / (OR|AND|WITH) /.test(license) ? { expression: license } : { license: { id: license } };
}

/** From npm's `sha512-…` to hex. */
function hashes(integrity) {
  if (integrity === undefined) return [];
  const [algorithm, digest] = integrity.split('-');
  const content = Buffer.from(digest, 'base64').toString('hex');
  return [{ alg: algorithm.toUpperCase().replace('SHA', 'SHA-'), content }];
}
