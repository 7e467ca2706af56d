import { connectionFault } from './fault.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** A record of the kind alert: fatal, handshake failure (RFC 8446, section 6). */
const HANDSHAKE_FAILURE = Buffer.from([0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x28]);

const PLAIN_ANSWER =
  'HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: 28\r\n\r\nThis is plain HTTP, no TLS.\n';

function daysFromNow(days: number): Date {
  return new Date(Date.now() + days * DAY_MS);
}

/** Before there is a connection that a request could go over. */
export const CONNECTION_FAULTS = [
  connectionFault('refuse', 'Connections are refused: nothing listens on the port.', {
    isClosed: true,
  }),
  connectionFault('accept-and-close', 'Connections are accepted and closed at once.', {
    greet: (socket) => socket.end(),
  }),
  connectionFault('accept-and-reset', 'Connections are accepted and reset at once.', {
    greet: (socket) => socket.resetAndDestroy(),
  }),
  connectionFault('one-connection', 'A second connection at the same time is closed at once.', {
    isSingle: true,
  }),
  connectionFault('handshake-stall', 'Connections are accepted, and TLS never begins.', {
    greet: () => undefined,
  }),
  connectionFault('handshake-cut', 'The connection ends in the middle of the handshake.', {
    greet: (socket) => socket.once('data', () => socket.end()),
  }),
  connectionFault('handshake-failure', 'The handshake is refused with a TLS alert.', {
    greet: (socket) => socket.once('data', () => socket.end(HANDSHAKE_FAILURE)),
  }),
  connectionFault('tls-garbage', 'The handshake is answered with noise.', {
    greet: (socket) => socket.end(Buffer.alloc(4096, 0xa5)),
  }),
  connectionFault('plain-http', 'The port speaks HTTP without TLS.', {
    greet: (socket) => socket.once('data', () => socket.end(PLAIN_ANSWER)),
  }),
  connectionFault('ssh-banner', 'Another service is on the port: SSH greets.', {
    greet: (socket) => socket.write('SSH-2.0-OpenSSH_9.6\r\n'),
  }),
  connectionFault('old-tls', 'The device speaks TLS 1.1 only.', {
    tls: { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' },
  }),
  connectionFault('client-certificate', 'The device wants a certificate of the client, too.', {
    tls: { requestCert: true, rejectUnauthorized: true },
  }),
  connectionFault('reset-after-handshake', 'The connection is reset as soon as TLS is ready.', {
    greetSecured: (socket) => socket.resetAndDestroy(),
  }),
  connectionFault('certificate-change', 'Another certificate is presented from now on.', {
    certificate: {},
  }),
  connectionFault('certificate-expired', 'The certificate expired yesterday.', {
    certificate: { validity: { from: daysFromNow(-300), to: daysFromNow(-1) } },
  }),
  connectionFault('certificate-too-early', 'The certificate is valid from tomorrow on.', {
    certificate: { validity: { from: daysFromNow(1), to: daysFromNow(300) } },
  }),
  connectionFault('certificate-of-another', 'The certificate is made out to another device.', {
    certificate: { isForOthers: true },
  }),
];
