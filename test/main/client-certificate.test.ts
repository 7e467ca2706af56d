import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createCertificate } from '../../src/simulator/certificate.ts';
import { makeDevsh } from './devsh.ts';

test.each(['TLSv1.2', 'TLSv1.3'] as const)(
  'a device that wants a client certificate over %s gets no advice about time',
  async (maxVersion) => {
    const subject = { commonName: 'oslo', addresses: ['127.0.0.1'], hostNames: [] };
    const { key, cert } = createCertificate(subject);
    const wants = { requestCert: true, rejectUnauthorized: true, maxVersion };
    const server = createServer({ key, cert, ...wants }).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await new Promise((done) => server.once('listening', done));
    const devsh = await makeDevsh({ DEVSH_USER: 'root', DEVSH_PASSWORD: 'x' });
    const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { stderr, exitCode } = await devsh(`user list --on ${address} --insecure`);
    expect(stderr).not.toContain('timeout');
    // The request and the refusal may cross.
    expect(stderr).toMatch(/wants a client certificate|no TLS with|connection broke/);
    expect(exitCode).toBe(5);
  },
);
