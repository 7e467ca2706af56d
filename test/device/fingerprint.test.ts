import { expect, test } from 'vitest';
import { normalizeFingerprint } from '../../src/device/trust-anchors.ts';

const DIGEST = 'AB'.repeat(32);
const CANONICAL = Array<string>(32).fill('AB').join(':');

test.each([
  DIGEST,
  DIGEST.toLowerCase(),
  CANONICAL,
  `sha256:${DIGEST}`,
  `SHA256:${CANONICAL}`,
  ` ${CANONICAL.toLowerCase()} `,
  `sha256 Fingerprint=${CANONICAL}`,
])('the fingerprint %s has one spelling', (text) => {
  expect(normalizeFingerprint(text)).toBe(CANONICAL);
});

test.each([
  '',
  'AB',
  DIGEST.slice(2),
  `${DIGEST}AB`,
  DIGEST.replace('A', 'G'),
  `sha1:${DIGEST}`,
  `A:${DIGEST.slice(1)}`,
])('%j is no SHA-256 fingerprint', (text) => {
  expect(normalizeFingerprint(text)).toBeUndefined();
});
