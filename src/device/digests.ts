import { createHmac, randomBytes } from 'node:crypto';
import { MASK } from '../text/one-line.ts';
import { isNested, jsonText, type Value } from './record.ts';

const MARK_LENGTH = 2;
const LENGTH = 10;

let load: () => Buffer | undefined = () => undefined;
let known: Buffer | undefined;

/** The key of this machine, read on first use. Without one, digests hold only in this process. */
export function digestWith(key: () => Buffer | undefined): void {
  [load, known] = [key, undefined];
}

/** Stands for a secret: the mask, a mark of the key, and a keyed digest. The same secret has the same one. */
export function digested(value: Value): string {
  return `${MASK}${mac('mark', MARK_LENGTH)}${mac(jsonText(['name', value]), LENGTH)}`;
}

/** What a journal has in the place of a secret. Of a nested one only the mask: a device may order its parts anew. */
export function journaled(secret: Value): string {
  if (isNested(secret)) return MASK;
  return isMask(secret) ? secret : digested(secret);
}

/** Whether a value is a mask, with or without a digest. */
export function isMask(value: Value | undefined): value is string {
  return typeof value === 'string' && value.startsWith(MASK) && MASKED.test(value);
}

const MASKED = new RegExp(`^\\*{3}(?:[\\w-]{${MARK_LENGTH + LENGTH}})?$`);

/** Whether a mask has a digest by the key of this machine. */
export function isComparable(mask: Value | undefined): boolean {
  return isMask(mask) && mask.startsWith(mac('mark', MARK_LENGTH), MASK.length);
}

function mac(text: string, length: number): string {
  known ??= load() ?? randomBytes(32);
  return createHmac('sha256', known).update(text).digest('base64url').slice(0, length);
}
