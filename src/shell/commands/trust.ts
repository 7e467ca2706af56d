import { parseAddress } from '../../device/address.ts';
import { normalizeFingerprint, scanCertificate } from '../../device/tls.ts';
import type { PresentedCertificate } from '../../device/errors.ts';
import { RefusedError, UsageError } from '../../errors.ts';
import type { Member } from '../../fleet/member.ts';
import type { Call } from '../call.ts';
import type { Output } from '../output.ts';
import type { ArgSpec, CommandSpec } from '../spec.ts';

const DEVICE: ArgSpec = {
  name: 'DEVICE',
  summary: 'name or address of one device',
  isRequired: true,
  complete: (scope) => scope.targets.filter(({ text }) => !text.startsWith('@')),
};

const CONNECT_TIMEOUT_MS = 5000;

export const trust: CommandSpec = {
  name: 'trust',
  summary: 'Certificates that devices are known by',
  section: 'Trust and login',
  defaultVerb: 'list',
  verbs: [
    {
      name: 'list',
      summary: 'List the pinned certificates',
      args: [],
      options: [],
      async *run({ session }) {
        const pins = await session.services.knownDevices.all();
        yield {
          kind: 'table',
          name: 'pins',
          columns: [
            { key: 'address', title: 'ADDRESS' },
            { key: 'fingerprint', title: 'SHA-256' },
            { key: 'firstSeen', title: 'FIRST SEEN' },
            { key: 'subject', title: 'SUBJECT' },
            { key: 'validTo', title: 'VALID TO' },
          ],
          rows: pins.map(({ subject = null, validTo = null, ...pin }) => ({
            ...pin,
            subject,
            validTo,
          })),
        };
      },
    },
    {
      name: 'accept',
      summary: 'Pin the certificate of a device that is not known yet',
      args: [DEVICE],
      options: ['trust'],
      details:
        'With --fingerprint the certificate is pinned without a question, for scripts; the device need\n' +
        'not be reachable. Without it the device is asked, and you compare.',
      examples: [
        'trust accept 10.0.0.5',
        'trust accept 10.0.0.5 --fingerprint 9F:86:D0:81:88:4C:7D:65:9A:2F:EA:A0:C5:5A:D0:15:A3:BF:4F:1B:2B:0B:82:2C:D1:5D:6C:15:B0:F0:0A:08',
      ],
      async *run(call) {
        const member = await oneMember(call);
        const pin = await call.session.services.knownDevices.find(member.ref.address);
        const wanted = fingerprintOption(call);
        if (pin !== undefined && pin.fingerprint !== wanted) {
          throw new RefusedError(
            `${member.ref.name} is known already by ${pin.fingerprint} since ${pin.firstSeen.slice(0, 10)}; ` +
              `"trust replace ${member.ref.name}" takes another certificate`,
          );
        }
        yield* pinOne(call, member, wanted);
      },
    },
    {
      name: 'replace',
      summary: 'Pin another certificate for a known device',
      args: [DEVICE],
      options: ['trust'],
      examples: ['trust replace fw1'],
      async *run(call) {
        yield* pinOne(call, await oneMember(call), fingerprintOption(call));
      },
    },
    {
      name: 'forget',
      summary: 'Remove the pin of a device',
      args: [DEVICE],
      options: [],
      async *run(call) {
        const member = await oneMember(call);
        const wasKnown = await call.session.services.knownDevices.remove(member.ref.address);
        await member.close();
        yield {
          kind: 'message',
          level: wasKnown ? 'done' : 'info',
          text: wasKnown ? `${member.ref.name} is forgotten` : `${member.ref.name} was not known`,
        };
      },
    },
  ],
};

async function* pinOne(
  call: Call,
  member: Member,
  wanted: string | undefined,
): AsyncGenerator<Output> {
  const { services } = call.session;
  const certificate: Pick<PresentedCertificate, 'fingerprint'> & Partial<PresentedCertificate> =
    wanted === undefined ? await compare(call, member) : { fingerprint: wanted };
  const { fingerprint, subject, validTo } = certificate;
  await services.knownDevices.set({
    address: member.ref.address,
    fingerprint,
    firstSeen: services.now().toISOString(),
    ...(subject !== undefined && { subject }),
    ...(validTo !== undefined && { validTo }),
  });
  await member.close();
  yield {
    kind: 'message',
    level: 'done',
    text: `${member.ref.name} is pinned to ${certificate.fingerprint}`,
  };
}

/** Shows the certificate that the device presents now; throws unless the user types yes. */
async function compare(call: Call, member: Member): Promise<PresentedCertificate> {
  const presented = await scanCertificate(member.ref, parseAddress(member.ref.address), {
    connectTimeoutMs: call.options.timeoutMs ?? CONNECT_TIMEOUT_MS,
    signal: call.io.signal,
  });
  const known = await call.session.services.knownDevices.find(member.ref.address);
  if (call.io.ask === undefined) {
    throw new RefusedError(
      `${member.ref.name} presents ${presented.fingerprint}; nobody to ask: repeat with ` +
        `--fingerprint if that is right`,
    );
  }
  const answer = await call.io.ask({
    kind: 'confirm',
    text: `Type yes to trust and pin the certificate of ${member.ref.name}:`,
    details: [
      `${member.ref.name}  ${presented.subject}  valid to ${presented.validTo.slice(0, 10)}`,
      ...(known === undefined
        ? []
        : [`  pinned    ${known.fingerprint}  since ${known.firstSeen.slice(0, 10)}`]),
      `  presented ${presented.fingerprint}`,
    ],
    expected: 'yes',
  });
  if (answer !== 'yes') throw new RefusedError('not confirmed: nothing is changed');
  return presented;
}

async function oneMember(call: Call): Promise<Member> {
  const [word] = call.args.words('DEVICE');
  const members = await call.resolve(call.args.all('DEVICE'));
  const [member] = members;
  if (member !== undefined && members.length === 1) return member;
  throw new UsageError(`"${word?.text ?? ''}" names ${members.length} devices; trust takes one`, {
    column: word?.start,
  });
}

function fingerprintOption(call: Call): string | undefined {
  const { fingerprint } = call.options;
  if (fingerprint === undefined) return undefined;
  const normalized = normalizeFingerprint(fingerprint);
  if (normalized !== undefined) return normalized;
  throw new UsageError(
    `--fingerprint: "${fingerprint}" is not a SHA-256 fingerprint (64 hex digits, colons optional)`,
  );
}
