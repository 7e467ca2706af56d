// The floor: TLS connections, 64 at a time, each read to its end and parsed. Checks and prints nothing.
// usage: ADDRESSES=<file with one address a line> node bare-tls.js
import { readFileSync } from 'node:fs';
import { connect, createSecureContext } from 'node:tls';

const addresses = readFileSync(process.env['ADDRESSES'], 'utf8').trim().split('\n');
const authorization = Buffer.from('admin:admin-secret').toString('base64');
const secureContext = createSecureContext({ ca: [] });

function ask(address) {
  const [host, port] = address.split(':');
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, rejectUnauthorized: false, secureContext });
    const chunks = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', reject);
    socket.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      resolve(JSON.parse(text.slice(text.indexOf('['), text.lastIndexOf(']') + 1)).length);
    });
    socket.end(
      `GET /api/user/ HTTP/1.1\r\nHost: ${address}\r\nAuthorization: Basic ${authorization}\r\nConnection: close\r\n\r\n`,
    );
  });
}

const waiting = addresses.values();
await Promise.all(
  Array.from({ length: 64 }, async () => {
    for (const address of waiting) await ask(address);
  }),
);
