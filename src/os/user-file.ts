import { isUtf8 } from 'node:buffer';
import { closeSync, constants, createReadStream, fstatSync, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { UsageError } from '../errors.ts';
import { errorCode } from './files.ts';

/** More than any change set, script or certificate file; far less than the memory. */
const MAX_MEBIBYTES = 64;

/** The least byte of a text file. */
const TAB = 9;

const PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: 'the file does not exist',
  ENOTDIR: 'the file does not exist',
  EISDIR: 'it is a folder, not a file',
  EACCES: 'no permission to read it',
  EPERM: 'no permission to read it',
  ELOOP: 'the link points to itself',
  ENAMETOOLONG: 'the name is too long',
  ENXIO: 'it is not a file',
};

/** Reads a file, or a pipe as in `<(…)`, that the user named. Throws UsageError if it is unreadable. */
export async function readUserFile(path: string): Promise<string> {
  try {
    return await readWhole(openToRead(path));
  } catch (error) {
    if (error instanceof UnsuitableFile)
      throw new UsageError(`cannot read ${path}: ${error.message}`);
    const code = errorCode(error) ?? 'unknown error';
    throw new UsageError(`cannot read ${path}: ${PROBLEMS[code] ?? code}`, { cause: error });
  }
}

/** All of standard input. Throws UsageError if it is too large or not UTF-8. */
export async function readStandardInput(stdin: AsyncIterable<Buffer | string>): Promise<string> {
  try {
    return await readWhole(stdin);
  } catch (error) {
    if (!(error instanceof UnsuitableFile)) throw error;
    throw new UsageError(`cannot read standard input: ${error.message}`);
  }
}

class UnsuitableFile extends Error {}

function openToRead(path: string): AsyncIterable<Buffer | string> {
  // Blocking, a pipe without a writer, or a terminal, would hang devsh and ignore Ctrl-C.
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const stats = fstatSync(fd);
  if (stats.isFIFO()) return new Socket({ fd, readable: true, writable: false });
  if (stats.isFile()) return createReadStream(path, { fd });
  closeSync(fd);
  throw new UnsuitableFile(stats.isDirectory() ? 'it is a folder, not a file' : 'it is not a file');
}

async function readWhole(stream: AsyncIterable<Buffer | string>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > MAX_MEBIBYTES * 1024 * 1024) {
      throw new UnsuitableFile(`it is larger than ${MAX_MEBIBYTES} MiB`);
    }
    chunks.push(bytes);
  }
  const whole = Buffer.concat(chunks);
  // Decoded anyway, names would reach the devices with replacement characters in them.
  if (!isUtf8(whole)) {
    const isUtf16 = /^(?:\xff\xfe|\xfe\xff)/.test(whole.toString('latin1', 0, 2));
    const isText = isUtf16 || !whole.some((byte) => byte < TAB);
    const what = isText
      ? 'not UTF-8 text: save it as UTF-8'
      : 'no text: save it as CSV, YAML or PEM';
    throw new UnsuitableFile(`it is ${what}`);
  }
  return whole.toString('utf8');
}
