import { warnOfPinDoubts } from '../access/access.ts';
import { isChangedCertificate } from '../../device/errors.ts';
import { normalizeFingerprint } from '../../device/trust-anchors.ts';
import { UsageError } from '../../errors.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import { type Call, type CommandSpec, verb } from '../command.ts';
import {
  askAndPin,
  expiryText,
  lookAt,
  pinAll,
  refuseOther,
  type Seen,
} from '../access/certificates.ts';
import { type Output, table, info, success } from '../output.ts';
import { DEVICES } from '../grammar/options.ts';
import { counted, countsText, someOf } from '../../text/one-line.ts';
import { oneDevice, SOME_TARGETS } from '../arguments.ts';

export const trust: CommandSpec = {
  name: 'trust',
  summary: 'Manage the pins of certificates',
  section: 'Trust and login',
  defaultVerb: 'list',
  verbs: [
    verb({
      name: 'list',
      summary: 'List the pinned certificates',
      changes: 'nothing',
      async *run({ shell }) {
        const { services } = shell;
        const { inventory, knownDevices } = services;
        await warnOfPinDoubts(shell);
        const { pins } = await knownDevices.pinFile();
        const devices = await inventory.load();
        // Certificates that devices of this session presented in place of the pinned ones.
        const changed = new Map(
          shell.fleet.known.flatMap(({ ref, state }): [string, string][] => {
            if (state.kind !== 'failed' || !isChangedCertificate(state.error)) return [];
            return [[ref.address, state.error.presented.fingerprint]];
          }),
        );
        yield table(
          'pins',
          [
            'device',
            'address',
            { key: 'fingerprint', title: 'SHA-256' },
            changed.size > 0 && { key: 'changedTo', title: 'CHANGED TO' },
            { key: 'firstSeen', title: 'FIRST SEEN', isExtra: true },
            'expires',
            { key: 'subject', title: 'SUBJECT', isExtra: true },
          ],
          Array.from(pins.values(), ({ subject = null, validTo = null, ...known }) => ({
            device: devices.findByAddress(known.address)?.name ?? null,
            ...known,
            changedTo: changed.get(known.address) ?? null,
            subject,
            validTo,
            expires: validTo === null ? 'not known' : expiryText(validTo, services.now()),
          })),
        );
        if (pins.size === 0) yield info('no certificate is pinned yet: "connect" asks');
      },
    }),
    verb({
      name: 'scan',
      synonyms: ['fingerprint'],
      summary: 'Compare the certificates that devices present now with the pins',
      args: [SOME_TARGETS],
      options: [...DEVICES],
      changes: 'nothing',
      details: 'Sends no login and pins nothing.',
      examples: ['trust scan @berlin', 'trust scan 10.0.0.0/29 --json'],
      async *run(call) {
        const sessions = await call.resolve(call.args.all('TARGET'));
        const seen = yield* lookAt(call, sessions);
        for (const { session, sighting } of seen) {
          if ('error' in sighting) {
            yield { kind: 'error', error: sighting.error, device: session.ref };
          }
        }
        yield scanTable(seen, call.shell.services.now());
        yield info(
          countsText(
            seen.map(({ sighting }) => sighting.kind),
            { known: 'known', changed: 'CHANGED', new: 'new', failed: 'not seen' },
          ),
        );
      },
    }),
    verb({
      name: 'accept',
      summary: 'Pin the certificates of new devices',
      args: [SOME_TARGETS],
      options: ['fingerprint', 'fingerprints', ...DEVICES],
      details:
        'Shows what the devices present; you compare. --fingerprint pins one device without a question, for\n' +
        'scripts; the device need not be reachable. EXPIRES is known if it has presented this certificate in the\n' +
        'session. --fingerprints does the same for many: each line of FILE starts with the name or address of a\n' +
        'device and contains its fingerprint; "trust scan" writes such a file (run it where the network path is\n' +
        'safe). devsh refuses devices that FILE lacks or that have another pin, and pins the others.',
      examples: [
        'trust accept 10.0.0.5',
        'trust accept @berlin',
        'trust accept @berlin --fingerprints seen.tsv',
        'trust accept 10.0.0.5 --fingerprint 9F:86:D0:81:88:4C:7D:65:9A:2F:EA:A0:C5:5A:D0:15:A3:BF:4F:1B:2B:0B:82:2C:D1:5D:6C:15:B0:F0:0A:08',
      ],
      async *run(call) {
        const sessions = await call.resolve(call.args.all('TARGET'));
        const wanted = fingerprintOption(call);
        const { fingerprints } = call.options;
        if (fingerprints !== undefined) {
          if (wanted !== undefined)
            throw new UsageError('--fingerprint or --fingerprints, not both');
          const { acceptListed } = await import('../access/listed-fingerprints.ts');
          yield* acceptListed(call, sessions, fingerprints);
        } else if (wanted === undefined) yield* acceptAll(call, sessions);
        else {
          const session = onlyOne(call, sessions, 'TARGET');
          refuseOther(session.ref, await call.shell.services.pinOf(session.entry), wanted);
          yield* pinAll(call, [{ session, presented: { fingerprint: wanted } }]);
        }
      },
    }),
    verb({
      name: 'replace',
      summary: 'Replace the pin of a device',
      args: [SOME_TARGETS],
      options: ['fingerprint', 'fingerprints', ...DEVICES],
      details:
        'For one device it shows both certificates; you compare. Many devices need a proof: --fingerprints pins\n' +
        'those in FILE, --ca those whose certificate this CA signed.',
      examples: [
        'trust replace fw1',
        'trust replace @berlin --fingerprints seen.tsv',
        'trust replace @berlin --ca new-ca.pem',
      ],
      async *run(call) {
        const sessions = await call.resolve(call.args.all('TARGET'));
        const { fingerprints, ca } = call.given;
        if (fingerprints !== undefined || ca !== undefined) {
          const { pinProved } = await import('../access/listed-fingerprints.ts');
          yield* pinProved(call, sessions);
          return;
        }
        const session = onlyOne(call, sessions, 'TARGET');
        const wanted = fingerprintOption(call);
        if (wanted !== undefined) {
          yield* pinAll(call, [{ session, presented: { fingerprint: wanted } }]);
          return;
        }
        const [seen] = yield* lookAt(call, [session]);
        if (seen === undefined) return;
        if (seen.sighting.kind === 'failed') throw seen.sighting.error;
        if (seen.sighting.kind === 'known')
          yield info(`${session.ref.name} presents the pinned certificate`);
        else yield* askAndPin(call, [{ session, presented: seen.sighting.presented }]);
      },
    }),
    verb({
      name: 'forget',
      summary: 'Remove the pin of a device',
      args: [oneDevice('DEVICE', 'name or address of one device')],
      async *run(call) {
        const session = onlyOne(call, await call.resolve(call.args.all('DEVICE')), 'DEVICE');
        const wasKnown = await call.shell.services.knownDevices.remove(session.ref.address);
        await session.close();
        const { name } = session.ref;
        yield wasKnown ? success(`removed the pin of ${name}`) : info(`${name} has no pin`);
      },
    }),
    verb({
      name: 'restore',
      summary: 'Restore the pins after their file was damaged',
      details:
        'devsh keeps a copy of the pins that it writes. Pins that only the file has stay; devsh keeps the\n' +
        'damaged file beside it. For pins changed on purpose use "trust forget" and "trust replace".',
      async *run({ shell }) {
        const { knownDevices } = shell.services;
        const { pins, aside } = await knownDevices.restore(shell.services.now());
        const kept = aside === undefined ? '' : `; the damaged file is ${aside}`;
        yield success(`restored ${knownDevices.path} with ${counted(pins, 'pin')}${kept}`);
      },
    }),
  ],
};

function scanTable(seen: readonly Seen[], now: Date): Output {
  const hasChanged = seen.some(({ sighting }) => sighting.kind === 'changed');
  return table(
    'certificates',
    [
      'device',
      'state',
      { key: 'fingerprint', title: 'SHA-256' },
      hasChanged && 'pinned',
      'expires',
      { key: 'subject', title: 'SUBJECT', isExtra: true },
    ],
    seen.map(({ session, sighting }) => {
      const device = { device: session.ref.name, address: session.ref.address };
      if (sighting.kind === 'failed') {
        const { code: state } = sighting.error;
        return { ...device, state, fingerprint: null, pinned: null, expires: null };
      }
      const { fingerprint, subject, validFrom, validTo } = sighting.presented;
      const state = sighting.kind === 'changed' ? 'CHANGED' : sighting.kind;
      const expires = expiryText(validTo, now);
      const pinned = sighting.kind === 'changed' ? sighting.pin.fingerprint : null;
      return { ...device, state, fingerprint, pinned, expires, subject, validFrom, validTo };
    }),
    { hasSuccess: seen.some(({ sighting }) => !('error' in sighting)) },
  );
}

async function* acceptAll(
  call: Call<'route' | 'timeoutMs'>,
  sessions: readonly DeviceSession[],
): AsyncGenerator<Output> {
  const seen = yield* lookAt(call, sessions);
  const known = seen.filter(({ sighting }) => sighting.kind === 'known');
  if (known.length > 0) {
    const names = someOf(known.map(({ session }) => session.ref.name));
    yield info(`${names} ${known.length === 1 ? 'is' : 'are'} pinned already`);
  }
  for (const { session, sighting } of seen) {
    if ('error' in sighting) yield { kind: 'error', error: sighting.error, device: session.ref };
  }
  const fresh = seen.flatMap(({ session, sighting }) =>
    sighting.kind === 'new' ? [{ session, presented: sighting.presented }] : [],
  );
  if (fresh.length > 0) yield* askAndPin(call, fresh);
}

function onlyOne(call: Call, sessions: readonly DeviceSession[], arg: string): DeviceSession {
  const [session] = sessions;
  if (session !== undefined && sessions.length === 1) return session;
  const [word] = call.args.words(arg);
  const list = arg === 'TARGET' ? ', or give --fingerprints FILE' : '';
  throw new UsageError(`"${word?.text ?? ''}" names ${sessions.length} devices: name one${list}`, {
    column: word?.start,
  });
}

function fingerprintOption(call: Call<'fingerprint'>): string | undefined {
  const { fingerprint } = call.options;
  if (fingerprint === undefined) return undefined;
  const normalized = normalizeFingerprint(fingerprint);
  if (normalized !== undefined) return normalized;
  throw new UsageError(
    `--fingerprint: "${fingerprint}" is not a SHA-256 fingerprint (64 hex digits, colons optional); a file of them is --fingerprints FILE`,
  );
}
