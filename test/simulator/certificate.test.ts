import { X509Certificate } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createCertificate } from '../../src/simulator/certificate.ts';

describe('the certificate', () => {
  const made = createCertificate({
    commonName: 'sim1',
    addresses: ['127.0.0.2'],
    hostNames: ['sim1', 'localhost'],
  });
  const parsed = new X509Certificate(made.cert);

  test('names the device, signs itself and is valid now', () => {
    expect(parsed.subject).toBe('CN=sim1');
    expect(parsed.subjectAltName).toBe('DNS:sim1, DNS:localhost, IP Address:127.0.0.2');
    expect(parsed.checkIP('127.0.0.2')).toBe('127.0.0.2');
    expect(parsed.verify(parsed.publicKey)).toBe(true);
    expect(Date.parse(parsed.validFrom)).toBeLessThan(Date.now());
    expect(Date.parse(parsed.validTo)).toBeGreaterThan(Date.now());
  });

  test('has the fingerprint that every other program shows', () => {
    expect(made.fingerprint).toBe(parsed.fingerprint256);
  });
});
