import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Unique secrets by name, to be found in files and texts: 20 letters, and around them characters that
 * each encoding has to escape.
 */
export class Canaries {
  readonly #cores = new Map<string, string>();

  /** A new password, different each time the test runs. */
  make(name: string): string {
    return `${this.makePlain(name)}&"<ü'%+/`;
  }

  /** The same of letters and digits only, such as tokens. */
  makePlain(name: string): string {
    const core = randomBytes(15).toString('hex').slice(0, 20).replace(/^./, 'k');
    this.#cores.set(name, core);
    return core;
  }

  /** Adds an existing secret. */
  know(name: string, secret: string): void {
    this.#cores.set(name, secret);
  }

  /** The names and encodings of the secrets in a text. */
  foundIn(bytes: Buffer | string): string[] {
    // One character per byte.
    const text = Buffer.isBuffer(bytes) ? bytes.toString('latin1') : bytes;
    const wide = text.replaceAll('\0', '');
    const lower = text.toLowerCase();
    return [...this.#cores].flatMap(([name, core]) => {
      const codes: [spelling: string, isThere: boolean][] = [
        ['plain', wide.includes(core)],
        ['hexadecimal', lower.includes(Buffer.from(core).toString('hex'))],
        ['percent', lower.includes(escaped(core, '%'))],
        ['JSON escapes', lower.includes(escaped(core, '\\u00'))],
        ['base64', base64Of(core).some((code) => text.includes(code))],
      ];
      return codes.filter(([, isThere]) => isThere).map(([spelling]) => `${name} (${spelling})`);
    });
  }

  /** The same for every file in a folder: `path: name (encoding)`. */
  async foundBelow(folder: string): Promise<string[]> {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const found = entries.map(async (entry) => {
      const path = join(entry.parentPath, entry.name);
      const inName = this.foundIn(entry.name);
      const inside = entry.isFile() ? this.foundIn(await readFile(path)) : [];
      return [...inName, ...inside].map((what) => `${path}: ${what}`);
    });
    return (await Promise.all(found)).flat();
  }
}

function escaped(text: string, mark: string): string {
  return [...Buffer.from(text)].map((byte) => `${mark}${byte.toString(16)}`).join('');
}

/** The part of Base64 that depends only on these letters, for each of the three alignments. */
function base64Of(text: string): string[] {
  return ['', 'x', 'xx'].map((before) => {
    const code = Buffer.from(before + text).toString('base64url');
    return code.slice(before.length === 0 ? 0 : before.length + 1, -2);
  });
}
