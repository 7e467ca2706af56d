import type { CredentialOutcome } from '../../fleet/credential-gate.ts';
import { doubtsText, type Pin } from '../../settings/known-devices.ts';
import type {
  CredentialOrigin,
  CredentialRequest,
  Credentials,
} from '../../credentials/sources.ts';
import type { AskPassphrase } from '../../credentials/vault.ts';
import { Credential } from '../../device/credential.ts';
import type { UntrustedError } from '../../device/errors.ts';
import { readCa } from '../../device/trust-anchors.ts';
import type { Route } from '../../device/route/route.ts';
import type { Authority, Trust } from '../../device/tls.ts';
import { CredentialError, LoginInDoubtError, unlessCancelled } from '../../errors.ts';
import type { Access } from '../../fleet/access.ts';
import type { DeviceEntry } from '../../fleet/inventory.ts';
import { compareTexts, sortBy } from '../../fleet/sort.ts';
import { accountsOf, type Profile } from '../../device/profile.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import type { ShellSession, ShellIo } from '../session.ts';
import type { Services } from '../services.ts';
import type { DeviceOption, Options } from '../grammar/options.ts';
import { readUserFile } from '../../os/user-file.ts';
import { someOf } from '../../text/one-line.ts';
import { DeviceFacts, type Facts } from '../../device/facts.ts';

/** Number of times that one command asks for the password of one device. */
const MAX_LOGINS = 3;

interface Untrusted {
  readonly entry: DeviceEntry;
  readonly error: UntrustedError;
}

type AccessOptions = Options<DeviceOption | 'verbose' | 'to'>;

/** Decides about trust and credentials for one command: reads files first, then asks the user. */
export class ShellAccess implements Access {
  readonly timeoutMs: number | undefined;
  readonly trace: ((line: string) => void) | undefined;
  readonly notice: ((text: string) => void) | undefined;
  readonly progress: ((text: string) => void) | undefined;
  readonly warn: (text: string) => void;
  /** Credentials that the user typed and a device accepted. They are kept if the user agrees. */
  readonly typed = new Map<DeviceEntry, Credential>();
  /** Whether this command tries the secrets of an unfinished rotation. Other commands do not log in there. */
  settlesRotations = false;
  /** Asks at once what other commands leave to the list of questions. */
  asksAtOnce = false;
  readonly #shell: ShellSession;
  readonly #io: ShellIo;
  readonly #options: AccessOptions;
  readonly #credentials: Credentials;
  readonly #logins = new Map<string, number>();
  /** Whether a device needed a login that no source had. */
  #lacksLogin = false;
  /** The user whose login a device refused during this line, by device name; undefined for a token. */
  readonly #refused = new Map<string, string | undefined>();
  /** The pins, kept from the first use: a large fleet reads them a thousand times. */
  #pins: Promise<ReadonlyMap<string, Pin>> | undefined;
  /** Texts of CA files by path: a whole fleet usually shares one. */
  readonly #ca = new Map<string, Promise<string>>();
  /** Resolves to the time since when all of these certificates are pinned. */
  readonly #bringTrust = joinedQuestions((concerns: readonly Untrusted[]) =>
    this.#askTrust(concerns),
  );
  readonly #bringLogin = joinedQuestions((entries: readonly DeviceEntry[]) =>
    this.#askLogin(entries, this.#io.asksLater === true),
  );

  constructor(shell: ShellSession, io: ShellIo, options: AccessOptions) {
    this.#shell = shell;
    this.#io = io;
    this.#options = options;
    this.#credentials = shell.services.credentials(options);
    this.#credentials.refresh();
    this.timeoutMs = options.timeoutMs;
    this.trace = options.verbose ? io.trace : undefined;
    this.notice = io.trace;
    this.progress = io.progress;
    this.warn = (text) => shell.services.notices.add(text);
  }

  /** Whether no certificate proves which device it is. */
  isUnchecked({ insecure = false }: Pick<DeviceEntry, 'insecure'>): boolean {
    return this.#options.insecure || insecure;
  }

  async trust(entry: DeviceEntry): Promise<Trust> {
    if (this.isUnchecked(entry)) return { kind: 'insecure' };
    const given = this.#shell.given.get(entry.name);
    if (given !== undefined) return given.trust;
    const { services } = this.#shell;
    this.#pins ??= warnOfPinDoubts(this.#shell).then(() => services.pins());
    const pins = await this.#pins;
    const pin = pins.get(entry.address);
    if (pin !== undefined) {
      const { fingerprint, firstSeen } = pin;
      // A pin replaces the CA of the inventory, but not the one of this line.
      const ca = await this.#authority(this.#options.ca);
      return { kind: 'pinned', fingerprint, pinnedAt: firstSeen, ca };
    }
    const ca = await this.#authority(this.#options.ca ?? entry.ca);
    return ca === undefined ? { kind: 'system' } : { kind: 'ca', ...ca };
  }

  async #authority(file: string | undefined): Promise<Authority | undefined> {
    if (file === undefined) return undefined;
    const known = this.#ca.get(file) ?? readUserFile(file).then((pem) => readCa(pem, file));
    this.#ca.set(file, known);
    return { pem: await unlessCancelled(known, this.#io.signal), file };
  }

  /** Reads the pins again after this line has changed them. */
  forgetPins(): void {
    this.#pins = undefined;
  }

  route(entry: DeviceEntry): Route {
    return this.#shell.services.route(entry.address, this.#options.route ?? entry.route);
  }

  profile(entry: DeviceEntry): Promise<{ base: Profile; stored: Facts }> {
    return knownOf(this.#shell.services, entry);
  }

  async acceptCertificate(entry: DeviceEntry, error: UntrustedError): Promise<Trust | undefined> {
    if (this.#ask === undefined) return undefined;
    const pinnedAt = await this.#bringTrust({ entry, error });
    const { fingerprint } = error.presented;
    return pinnedAt === undefined ? undefined : { kind: 'pinned', fingerprint, pinnedAt };
  }

  async credential(entry: DeviceEntry): Promise<Credential | undefined> {
    const given = this.#shell.given.get(entry.name);
    if (given !== undefined) return given.credential;
    const typed = this.typed.get(entry);
    if (typed !== undefined) return typed;
    const found = await this.#credentials.find(this.request(entry));
    if (found?.inDoubt !== undefined && !this.settlesRotations) {
      throw new LoginInDoubtError(entry.name, found.inDoubt);
    }
    return found?.credential;
  }

  /** Returns where the credential of a device would come from, without asking the user. */
  async origin(entry: DeviceEntry): Promise<CredentialOrigin> {
    const given = this.#shell.given.get(entry.name)?.credential;
    if (given !== undefined) return { source: 'session', user: given.user, kind: given.kind };
    return this.#credentials.origin(this.request(entry));
  }

  /** Asks for the passphrase of the vault; undefined if the user cannot be asked. */
  get askPassphrase(): AskPassphrase | undefined {
    const { ask } = this.#io;
    if (ask === undefined) return undefined;
    const text = 'Passphrase of the vault:';
    return (complaint) =>
      ask({ kind: 'secret', text, details: complaint === undefined ? [] : [complaint] });
  }

  async anotherCredential(
    entry: DeviceEntry,
    refused: Credential | undefined,
  ): Promise<Credential | undefined> {
    this.#lacksLogin = true;
    if (refused !== undefined) {
      this.#credentials.refused();
      const { user } = refused;
      if (this.typed.delete(entry) && user !== undefined)
        this.#shell.refusedUsers.set(entry.name, user);
      this.#refused.set(entry.name, user);
    }
    if (this.#ask === undefined) {
      if (refused !== undefined) return undefined;
      if (this.#io.asksLater === true) {
        throw new CredentialError(`${entry.name}: it needs a login: "questions" asks for one`);
      }
      throw new CredentialError(
        `${entry.name}: devsh has no login. Set DEVSH_TOKEN or DEVSH_USER and DEVSH_PASSWORD, use ` +
          '--token-stdin or --password-stdin, or run "devsh login" ' +
          '("help credentials" lists the sources).',
      );
    }
    const logins = (this.#logins.get(entry.name) ?? 0) + 1;
    this.#logins.set(entry.name, logins);
    if (logins > MAX_LOGINS) return undefined;
    const credential = await this.#bringLogin(entry);
    if (credential !== undefined) this.typed.set(entry, credential);
    return credential;
  }

  /** Asks for one login for all of these devices, without trying a stored one first. */
  async askLogin(entries: readonly DeviceEntry[]): Promise<Credential | undefined> {
    // The user must know before typing whether the login can be kept.
    if (this.#options.to !== 'vault') await this.#credentials.reachesKeychain();
    return this.#askLogin(entries, false);
  }

  /** Asks what devsh needs to know to continue; undefined if the question waits in the list, or nobody can be asked. */
  get #ask(): ShellIo['ask'] {
    const { asksLater, ask } = this.#io;
    return asksLater === true && !this.asksAtOnce ? undefined : ask;
  }

  admit(entry: DeviceEntry, credential: Credential): Promise<void> {
    return this.#shell.gate.admit(entry.name, credential);
  }

  settle(entry: DeviceEntry, credential: Credential, outcome: CredentialOutcome): void {
    this.#shell.gate.settle(entry.name, credential, outcome);
  }

  request(entry: DeviceEntry): CredentialRequest {
    return {
      device: { name: entry.name, address: entry.address },
      user: this.#options.user ?? entry.user,
      command: entry.credentialCommand,
      askPassphrase: this.#ask && this.askPassphrase,
      signal: this.#io.signal,
    };
  }

  async #askTrust(concerns: readonly Untrusted[]): Promise<string | undefined> {
    const sorted = sortBy(concerns, ['name'], ({ entry }) => entry.name);
    const details = sorted.map(({ entry, error }) => {
      const { fingerprint, subject, validTo } = error.presented;
      const where = entry.address.startsWith(entry.name) ? '' : ` (${entry.address})`;
      return `${entry.name}${where}  ${subject}  valid to ${validTo.slice(0, 10)}\n  SHA-256 ${fingerprint}`;
    });
    const what =
      concerns.length === 1
        ? `The certificate of ${concerns[0]?.entry.name ?? ''} is unknown.`
        : `The certificates of ${concerns.length} devices are unknown.`;
    const answer = await this.#io.ask?.({
      kind: 'confirm',
      text: `${what} Compare the fingerprint, then type yes to trust and pin:`,
      details,
      expected: 'yes',
    });
    if (answer !== 'yes') return undefined;
    const { services } = this.#shell;
    const firstSeen = services.now().toISOString();
    this.#pins = undefined;
    await services.knownDevices.set(
      ...concerns.map(({ entry: { address }, error: { presented } }) => {
        const { fingerprint, subject, validTo } = presented;
        return { address, fingerprint, firstSeen, subject, validTo };
      }),
    );
    return firstSeen;
  }

  async #askLogin(
    entries: readonly DeviceEntry[],
    isLate: boolean,
  ): Promise<Credential | undefined> {
    const names = [...new Set(entries.map(({ name }) => name))].sort(compareTexts);
    const where = someOf(names, 4);
    const problems = this.#untoldProblems();
    const { refusedUsers } = this.#shell;
    const retyping = new Set(names.map((name) => refusedUsers.get(name)));
    const isRetyped = retyping.size === 1 && !retyping.has(undefined);
    const details = [
      ...this.#refusals(names),
      ...(names.length > 4 ? [`The same login goes to: ${names.join(', ')}`] : []),
    ];
    const known = isRetyped
      ? retyping
      : new Set(entries.map(({ user }) => this.#options.user ?? user));
    let [user] = known.size > 1 ? [] : known;
    const asksUser = isRetyped || user === undefined;
    if (asksUser) {
      const text = `User name on ${where}${user === undefined ? '' : ` (Enter: ${user})`}:`;
      const above = [...problems, ...details];
      const typed = await this.#io.ask?.({ kind: 'text', text, details: above, isLate });
      user = typed === '' ? user : typed;
    }
    if (user === undefined || user === '') return undefined;
    const password = await this.#io.ask?.({
      kind: 'secret',
      text: `Password of ${user} on ${where}:`,
      details: asksUser ? [] : [...problems, ...details],
      isLate,
    });
    return password ? Credential.basic(user, password) : undefined;
  }

  /** Problems of the sources of logins. A missing keychain is one only if a device has no login. */
  get problems(): readonly string[] {
    const { problems, absentKeychain } = this.#credentials;
    const others = problems.filter((text) => text !== absentKeychain);
    // A vault in use replaces the keychain.
    if (!this.#lacksLogin || absentKeychain === undefined || others.length === problems.length)
      return others;
    const short = 'this machine has no keychain: each session asks for the login';
    return [...others, this.#io.isOnScreen === true ? short : absentKeychain];
  }

  /** Problems that the user should know before typing a password, for example that no keychain keeps it. */
  #untoldProblems(): string[] {
    const { notices } = this.#shell.services;
    // The full screen tells of a missing keychain after the login is typed, unless the user types it to keep it.
    const isLater = this.#io.isOnScreen === true && this.#lacksLogin;
    const absent = isLater ? this.#credentials.absentKeychain : undefined;
    return this.#credentials.problems.filter((problem) => {
      if (problem === absent) return false;
      const isNew = !notices.isShown(problem);
      notices.markShown(problem);
      return isNew;
    });
  }

  /** Explains a repeated question: whose login these devices refused. */
  #refusals(names: readonly string[]): string[] {
    const refused = names.filter((name) => this.#refused.has(name));
    const users = new Set(refused.map((name) => this.#refused.get(name)));
    return [...users].map((user) => {
      const on = refused.filter((name) => this.#refused.get(name) === user).join(', ');
      return `${user === undefined ? 'The token' : `The login of ${user}`} was refused by ${on}.`;
    });
  }
}

async function knownOf(
  { profiles, notices }: Services,
  { profile = 'documented', address }: DeviceEntry,
): Promise<{ base: Profile; stored: Facts }> {
  const base = await profiles.profile(profile);
  if (base.ignored !== undefined) {
    const facts = base.ignored.join(', ');
    notices.add(`profile ${profile}: ${facts} of an older devsh has no effect any more`);
  }
  return { base, stored: await profiles.seen(address) };
}

/** The configured profile of a device, with the facts observed on it. */
export async function profileOf(services: Services, entry: DeviceEntry): Promise<Profile> {
  const { base, stored } = await knownOf(services, entry);
  return new DeviceFacts(base, stored).profile;
}

/** The resource of the accounts, by session, also of devices that are not connected. */
export async function accountResources(
  services: Services,
  sessions: readonly DeviceSession[],
): Promise<ReadonlyMap<DeviceSession, string>> {
  const profiles = sessions.map(async (session): Promise<[DeviceSession, string]> => [
    session,
    accountsOf(await profileOf(services, session.entry)),
  ]);
  return new Map(await Promise.all(profiles));
}

/** Reports once that another program removed or changed pins, which may be an attack. */
export async function warnOfPinDoubts({ services }: ShellSession): Promise<void> {
  const text = await doubtsText(services.knownDevices);
  if (text !== undefined) services.notices.add(text);
}

/** devsh asks a question when no other device has joined it for this long … */
const QUIET_MS = 120;
/** … or when its first device has waited this long. */
const PATIENCE_MS = 1500;

/** Joins the questions that many devices ask at about the same time. Asks one question at a time. */
export function joinedQuestions<Concern, Answer>(
  decide: (concerns: readonly Concern[]) => Promise<Answer>,
): (concern: Concern) => Promise<Answer> {
  let gathering: { readonly concerns: Concern[]; readonly answer: Promise<Answer> } | undefined;
  let last: Promise<unknown> = Promise.resolve();
  const answerLater = async (concerns: readonly Concern[]): Promise<Answer> => {
    const until = performance.now() + PATIENCE_MS;
    let count = 0;
    while (count < concerns.length && performance.now() < until) {
      count = concerns.length;
      await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
    }
    // Devices that arrive while another question is open still join this one.
    await last.catch(() => undefined);
    gathering = undefined;
    const answer = decide(concerns);
    last = answer;
    return answer;
  };
  return (concern) => {
    if (gathering === undefined) {
      const concerns = [concern];
      gathering = { concerns, answer: answerLater(concerns) };
    } else gathering.concerns.push(concern);
    return gathering.answer;
  };
}
