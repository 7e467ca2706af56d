import { basename, dirname, join } from 'node:path';
import { copyFile } from 'node:fs/promises';
import {
  errorCode,
  fileError,
  fileStamp,
  ignoreFileError,
  readText,
  writeTextAtomically,
} from '../os/files.ts';

/**
 * The last good copy of a file that is worth more than a warning: when the file is damaged, what it
 * held is not lost. The copy lies apart from the file, so that what befalls a folder befalls one.
 */
export class GoodCopy {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** Undefined when there is none, or it cannot be read: a copy is no reason to fail. */
  async read(): Promise<string | undefined> {
    return readText(this.path).catch(ignoreFileError);
  }

  /** As `fileStamp`; empty, too, when it cannot be looked at. */
  async stamp(): Promise<string> {
    return (await fileStamp(this.path).catch(ignoreFileError)) ?? '';
  }

  /** Keeps the text, unless it is there already. A disk that is full or read-only is no reason to fail. */
  async keep(text: string): Promise<void> {
    if ((await this.read()) === text) return;
    await writeTextAtomically(this.path, text).catch(ignoreFileError);
  }

  /** Keeps what the copy holds now for good. Resolves to the file that holds it. */
  async keepOlder(): Promise<string> {
    const older = `${this.path}.older`;
    const text = await this.read();
    if (text !== undefined) await writeTextAtomically(older, text).catch(ignoreFileError);
    return older;
  }
}

/** Copies a damaged file to a name of its own beside it. Resolves to that name; undefined when there is no file. */
export async function keepAside(path: string, now: Date): Promise<string | undefined> {
  const stamp = now.toISOString().replace(/[-:.]/g, '');
  const aside = join(dirname(path), `${basename(path)}.damaged-${stamp}`);
  try {
    await copyFile(path, aside);
    return aside;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw fileError('copy', path, error);
  }
}
