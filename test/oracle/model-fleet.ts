import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createCertificate } from '../../src/simulator/certificate.ts';
import { makeDevsh, type Devsh } from '../main/devsh.ts';
import { ModelDevice, type JsonObject, type Model } from './model-device.ts';

/**
 * A selected device: `silent` closes all connections, `forbidding` responds with 403, `leaving` executes
 * the first write and is unreachable from then on.
 */
export interface DeviceSession {
  readonly presence: 'here' | 'silent' | 'forbidding' | 'leaving';
  readonly records: readonly JsonObject[];
}

/** Devices of one family in an inventory, all in the group `lab`, with a devsh that trusts them. */
export interface ModelFleet {
  readonly devsh: Devsh & { readonly folder: string };
  readonly devices: readonly ModelDevice[];
  /** Whether a device is unreachable. */
  readonly isAbsent: (device: ModelDevice) => boolean;
  readonly close: () => Promise<void>;
}

/** No name is a part of another one, or a word in the messages of devsh. */
export const DEVICE_NAMES = ['oslo', 'rome', 'bonn'] as const;

const certificate = createCertificate({
  commonName: 'model',
  addresses: ['127.0.0.1'],
  hostNames: [],
});

/** @param isConfigured whether the profile configures how records are written; otherwise it is learned */
export async function openModelFleet(
  model: Model,
  sessions: readonly DeviceSession[],
  isConfigured = true,
): Promise<ModelFleet> {
  const cleanUps: (() => Promise<void> | void)[] = [];
  const env = { DEVSH_USER: 'operator', DEVSH_PASSWORD: 'swordfish-1' };
  const devsh = await makeDevsh(env, (cleanUp) => cleanUps.push(cleanUp));
  const devices = sessions.map(({ records }) => new ModelDevice(model, records));
  const places = new Map<ModelDevice, Place>();
  const inventory = ['groups: {lab: {ca: ca.pem, profile: oracle}}', 'devices:'];
  for (const [index, device] of devices.entries()) {
    const place = await serve(device, sessions[index]?.presence ?? 'here');
    places.set(device, place);
    cleanUps.push(place.close);
    const name = DEVICE_NAMES[index] ?? `more${index}`;
    inventory.push(`  - {name: ${name}, address: "${place.address}", groups: [lab]}`);
  }
  const config = join(devsh.folder, 'config/devsh');
  await mkdir(join(config, 'profiles'), { recursive: true });
  await writeFile(join(config, 'ca.pem'), certificate.cert);
  await writeFile(join(config, 'devices.yaml'), `${inventory.join('\n')}\n`);
  await writeFile(join(config, 'profiles/oracle.yaml'), profileOf(model, isConfigured));
  return {
    devsh,
    devices,
    isAbsent: (device) => places.get(device)?.isAbsent() ?? false,
    async close() {
      for (const cleanUp of cleanUps) await cleanUp();
    },
  };
}

/** The profile that configures how records are written. */
function profileOf({ way, idField, tells }: Model, isConfigured: boolean): string {
  const ids = `id_fields: [${idField}]\n`;
  const update = (method: string, path: string, selector: string): string =>
    `update: {method: ${method}, path: "${path}", encoding: json, selector: ${selector}, record: whole}\n`;
  switch (way) {
    case 'form POST':
      return `extends: documented\n${ids}`;
    case 'JSON POST':
      return `extends: drf\n${ids}${update('POST', '{collection}', 'id')}`;
    case 'JSON PUT': {
      const isSaid = isConfigured || tells === 'nothing';
      return `extends: drf\n${ids}${isSaid ? update('PUT', '{item}', 'none') : ''}`;
    }
    case 'JSON PATCH':
      return `extends: drf\n${ids}`;
  }
}

interface Place {
  readonly address: string;
  readonly isAbsent: () => boolean;
  readonly close: () => void;
}

async function serve(device: ModelDevice, presence: DeviceSession['presence']): Promise<Place> {
  const { key, cert } = certificate;
  let isGone = presence === 'silent';
  const server = createServer({ key, cert }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.once('end', () => {
      if (presence === 'forbidding') {
        response.writeHead(403).end('{"detail": "not you"}');
        return;
      }
      const { status, text, allow } = device.take(request, Buffer.concat(chunks).toString());
      isGone ||= presence === 'leaving' && device.writes.length > 0;
      if (isGone) server.closeAllConnections();
      const headers = { 'content-type': 'application/json', ...(allow && { allow }) };
      response.writeHead(status, headers).end(text);
    });
  });
  server.on('connection', (socket) => {
    if (isGone) socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    isAbsent: () => isGone || presence === 'forbidding',
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
