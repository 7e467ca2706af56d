/**
 * A SHA-256 fingerprint in its one spelling (upper case, colons); undefined when it is not 32 bytes
 * of hex. Takes any case, colons or none, and a leading `sha256:`.
 */
export function normalizeFingerprint(text: string): string | undefined {
  const hex = text
    .trim()
    .replace(/^sha-?256(?:[:=]|\s+fingerprint=)/i, '')
    .toUpperCase();
  if (!/^(?:[0-9A-F]{64}|(?:[0-9A-F]{2}:){31}[0-9A-F]{2})$/.test(hex)) return undefined;
  return hex.replaceAll(':', '').replace(/..(?!$)/g, '$&:');
}
