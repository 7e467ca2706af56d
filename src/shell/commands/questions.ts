import { type PresentedCertificate, isRefusedLogin, UntrustedError } from '../../device/errors.ts';
import { CredentialError, DeclinedError, LoginInDoubtError, RefusedError } from '../../errors.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import type { Fleet } from '../../fleet/fleet.ts';
import { sortBy } from '../../fleet/sort.ts';
import { counted, someOf } from '../../text/one-line.ts';
import { askAndPin, expiryText } from '../access/certificates.ts';
import { type ArgSpec, type Call, type CommandSpec, verb } from '../command.ts';
import { probe } from '../devices/probe.ts';
import { DEVICES } from '../grammar/options.ts';
import { awaiting, info, type Output, table } from '../output.ts';

/** A question about one device that devsh must ask before it can continue. Its texts are not escaped yet. */
export interface DeviceQuestion {
  /** `changed`: the certificate differs from the pinned one. */
  readonly kind: 'changed' | 'certificate' | 'login';
  readonly name: string;
  readonly address: string;
  readonly presented: PresentedCertificate | undefined;
  /** The pin that it does not match. */
  readonly pinned: { readonly fingerprint: string; readonly since: string } | undefined;
  readonly reason: string;
}

/** The suspicious kind comes first. */
const KINDS = ['changed', 'certificate', 'login'] as const;

type Asking = readonly [DeviceSession, DeviceQuestion];

function askingIn(fleet: Fleet): Asking[] {
  const open = fleet.known.flatMap((session): Asking[] => {
    const question = questionOf(session);
    return question === undefined || session.declined === idOf(question)
      ? []
      : [[session, question]];
  });
  return sortBy(open, ['kind', 'name'], ([, { kind, name }], field) =>
    field === 'kind' ? KINDS.indexOf(kind) : name,
  );
}

export function openQuestions(fleet: Fleet): DeviceQuestion[] {
  return askingIn(fleet).map(([, question]) => question);
}

/** Another certificate is a new question. */
function idOf({ kind, presented }: DeviceQuestion): string {
  return `${kind} ${presented?.fingerprint ?? ''}`;
}

function questionOf({ ref, failure: error, trust }: DeviceSession): DeviceQuestion | undefined {
  const { name, address } = ref;
  const reason = error?.message.replace(`${name}: `, '') ?? '';
  const nothing = { name, address, reason, presented: undefined, pinned: undefined };
  if (error instanceof UntrustedError) {
    const { presented } = error;
    if (error.reason === 'unknown') return { ...nothing, kind: 'certificate', presented };
    if (error.reason !== 'changed' || trust?.kind !== 'pinned') return undefined;
    const pinned = { fingerprint: trust.fingerprint, since: trust.pinnedAt };
    return { ...nothing, kind: 'changed', presented, pinned };
  }
  const isLogin =
    // Only `resume` settles a rotation, not a typed login.
    (error instanceof CredentialError && !(error instanceof LoginInDoubtError)) ||
    isRefusedLogin(error);
  return isLogin ? { ...nothing, kind: 'login' } : undefined;
}

/** "1 CHANGED certificate, 83 certificates, 2 logins"; empty if there are no questions. */
export function questionsText(questions: readonly Pick<DeviceQuestion, 'kind'>[]): string {
  const nouns = { changed: 'CHANGED certificate', certificate: 'certificate', login: 'login' };
  return KINDS.flatMap((kind) => {
    const count = questions.filter((question) => question.kind === kind).length;
    return count === 0 ? [] : counted(count, nouns[kind]);
  }).join(', ');
}

const NONE = 'no question is open';

const ASKING: ArgSpec = {
  name: 'DEVICE',
  summary: 'a device with an open question',
  isRest: true,
  complete: ({ fleet }) =>
    openQuestions(fleet).map(({ name, kind }) => ({ text: name, summary: kind })),
};

export const questions: CommandSpec = {
  name: 'questions',
  summary: 'Answer questions about certificates and logins of devices',
  section: 'Trust and login',
  defaultVerb: 'list',
  verbs: [
    verb({
      name: 'list',
      summary: 'List the certificates and logins that devices wait for',
      options: [...DEVICES],
      details:
        'On the full screen a question about a device waits in this list (F2), and work continues with the\n' +
        'other devices. The plain prompt and a one-shot command ask at once on a terminal; without one they\n' +
        'refuse. --on tries those devices first, without asking.',
      examples: ['questions', 'questions --on @berlin'],
      async *run(call) {
        const { shell, options, io } = call;
        if (options.on.length > 0) {
          // Reading without asking the user shows what the devices wait for.
          const access = call.accessWithoutAsking();
          for await (const one of call.read(await call.sessions(), 'user', { access }))
            yield awaiting('trying', one.awaited, one.total);
        }
        const open = openQuestions(shell.fleet);
        yield table(
          'questions',
          [
            'device',
            'question',
            { key: 'fingerprint', title: 'SHA-256' },
            open.some(({ pinned }) => pinned !== undefined) && 'pinned',
            'expires',
            'subject',
            { key: 'reason', title: 'REASON', isExtra: true },
          ],
          open.map(({ name, address, kind, presented, pinned, reason }) => ({
            device: name,
            address,
            question: kind,
            fingerprint: presented?.fingerprint ?? null,
            pinned: pinned?.fingerprint ?? null,
            expires:
              presented === undefined ? null : expiryText(presented.validTo, shell.services.now()),
            validTo: presented?.validTo ?? null,
            subject: presented?.subject ?? null,
            reason,
          })),
        );
        if (open.length === 0 && io.isOnScreen !== true) yield info(NONE);
      },
    }),
    verb({
      name: 'accept',
      summary: 'Trust waiting certificates, type the login, and connect the devices',
      args: [ASKING],
      options: ['fingerprints', ...DEVICES],
      details:
        'Without DEVICE it means all but changed certificates. Accept a changed certificate alone ("questions\n' +
        'accept fw3"), or many with a proof: --fingerprints accepts those in FILE, --ca those that this CA\n' +
        'signed.',
      examples: ['questions accept fw3 fw7', 'questions accept --fingerprints seen.tsv'],
      run: accept,
    }),
    verb({
      name: 'decline',
      summary: 'Remove questions from the list; "connect" asks them again',
      args: [ASKING],
      async *run(call) {
        const asking = await askingSessions(call);
        for (const [session, question] of asking) session.decline(idOf(question));
        const names = asking.map(([{ ref }]) => ref.name);
        yield info(
          names.length === 0 ? NONE : `declined: ${someOf(names)}; nothing was sent to them`,
        );
      },
    }),
  ],
};

async function* accept(
  call: Call<'fingerprints' | 'ca' | 'route' | 'timeoutMs'>,
): AsyncGenerator<Output> {
  const { access, given } = call;
  const isNamed = call.args.all('DEVICE').length > 0;
  const asking = await askingSessions(call);
  const isProved = given.fingerprints !== undefined || given.ca !== undefined;
  const changed = asking.filter(([, { kind }]) => kind === 'changed');
  const chosen = isNamed || isProved ? asking : asking.filter((one) => !changed.includes(one));
  const sessions = chosen.map(([session]) => session);
  const [only] = changed;
  if (only !== undefined && !isProved && (sessions.length !== 1 || !isNamed)) {
    const { name } = only[0].ref;
    const text = `${someOf(changed.map(([{ ref }]) => ref.name))}: accept a changed certificate alone ("questions accept ${name}"), or with --fingerprints FILE or --ca FILE`;
    if (isNamed || sessions.length === 0) throw new RefusedError(text);
    yield info(text);
  }
  if (sessions.length === 0) {
    yield info(NONE);
    return;
  }
  access.asksAtOnce = true;
  const certificates = chosen.flatMap(([session, { kind, presented }]) =>
    kind === 'login' || presented === undefined ? [] : [{ session, presented }],
  );
  if (isProved) {
    const { pinProved } = await import('../access/listed-fingerprints.ts');
    const pinned = certificates.map(({ session }) => session);
    yield* pinProved(call, pinned);
  } else if (certificates.length > 0) yield* askAndPin(call, certificates);
  const logins = chosen.flatMap(([session, { kind }]) => (kind === 'login' ? [session] : []));
  const left = isProved || (logins.length > 0 && !(await giveLogin(call, logins))) ? logins : [];
  const tried = sessions.filter((session) => !left.includes(session));
  if (tried.length > 0) yield* probe(call, tried);
  for (const { entry, state } of sessions) if (state.kind !== 'ready') access.typed.delete(entry);
}

/** Asks the next question of devices that connect: certificates first, then one login. Returns its devices. */
export async function* askNext(
  call: Call,
  sessions: readonly DeviceSession[],
  asked: Set<string>,
): AsyncGenerator<Output, readonly DeviceSession[]> {
  if (asked.size === 0 && sessions.some(({ state }) => state.kind === 'ready')) return [];
  const asking = askingIn(call.shell.fleet).filter(
    ([session, { kind }]) => sessions.includes(session) && !asked.has(kind),
  );
  const certificates = asking.flatMap(([session, { kind, presented }]) =>
    kind === 'certificate' && presented !== undefined ? [{ session, presented }] : [],
  );
  if (certificates.length > 0) {
    asked.add('certificate');
    try {
      yield* askAndPin(call, certificates);
      call.access.forgetPins();
    } catch (error) {
      if (!(error instanceof DeclinedError)) throw error;
      yield info(
        'you did not trust the certificate: devsh sent nothing; "questions" (F2) asks again',
      );
      return yield* askNext(call, sessions, asked);
    }
    return certificates.map(({ session }) => session);
  }
  const logins = asking.flatMap(([session, { kind }]) => (kind === 'login' ? [session] : []));
  if (logins.length === 0) return [];
  asked.add('login');
  call.access.asksAtOnce = true;
  return (await giveLogin(call, logins)) ? logins : [];
}

/** Asks for a login. Asks first to unlock a vault that may contain it. */
async function giveLogin(
  { access, credentials, shell }: Call,
  sessions: readonly DeviceSession[],
): Promise<boolean> {
  const { services } = shell;
  const isLocked = !services.vault.isUnlocked && (await services.vault.exists());
  if (!(isLocked && (await credentials.unlockVault(access.askPassphrase)))) {
    const entries = sessions.map(({ entry }) => entry);
    const credential = await access.askLogin(entries);
    if (credential === undefined) return false;
    for (const entry of entries) access.typed.set(entry, credential);
  }
  // The next request opens them with the new login.
  await Promise.all(sessions.map((session) => session.close()));
  return true;
}

/** The named devices, or all, each with its open question. */
async function askingSessions(call: Call): Promise<Asking[]> {
  const names = call.args.all('DEVICE');
  const wanted = names.length > 0 ? await call.resolve(names) : undefined;
  const addresses = wanted && new Set(wanted.map(({ ref }) => ref.address));
  return askingIn(call.shell.fleet).filter(([, { address }]) => addresses?.has(address) !== false);
}
