// A device that serves one file without work of its own, to measure clients.
// usage: node static-device.js <bundle with the certificates of the simulator> <file>
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { pathToFileURL } from 'node:url';

const [bundle, file] = process.argv.slice(2);
const { createCertificate } = await import(pathToFileURL(bundle).href);
const { key, cert, fingerprint } = createCertificate({
  commonName: 'static',
  addresses: ['127.0.0.1'],
  hostNames: [],
});
const body = readFileSync(file);
const headers = { 'content-type': 'application/json', 'content-length': body.length };
const server = createServer({ key, cert }, (request, response) => {
  response.writeHead(200, headers).end(body);
});
server.listen(0, '127.0.0.1', () => {
  const row = ['static', `127.0.0.1:${server.address().port}`, 'admin', '', '', fingerprint];
  console.log(['', row.join('\t'), row.join('\t')].join('\n'));
});
