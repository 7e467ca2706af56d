// The rival: a script with undici as documented. Checks no certificate. `add` lists, posts and lists again.
// usage: ADDRESSES=<file with one address a line> node plain-undici.js list|add WIDTH
import { readFileSync } from 'node:fs';
import { Agent, request } from 'undici';

const FORM = `uuid=null&first_name=B&lastname=C&username=${process.env['USERNAME_TO_ADD']}&lang=de`;
const [what, width] = process.argv.slice(2);
const addresses = readFileSync(process.env['ADDRESSES'], 'utf8').trim().split('\n');
const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
const authorization = `Basic ${Buffer.from('admin:admin-secret').toString('base64')}`;

async function ask(address, form) {
  const { statusCode, body } = await request(`https://${address}/api/user/`, {
    dispatcher,
    headers: {
      authorization,
      ...(form !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
    },
    ...(form !== undefined && { method: 'POST', body: form }),
  });
  const text = await body.text();
  if (statusCode >= 300) throw new Error(`${address}: ${statusCode} ${text.slice(0, 100)}`);
  return text;
}

async function list(address) {
  const text = await ask(address);
  return JSON.parse(text).length ?? text.length;
}

async function add(address) {
  await list(address);
  await ask(address, FORM);
  return list(address);
}

const waiting = addresses.values();
await Promise.all(
  Array.from({ length: Number(width) }, async () => {
    for (const address of waiting) console.log(await (what === 'add' ? add : list)(address));
  }),
);
await dispatcher.close();
