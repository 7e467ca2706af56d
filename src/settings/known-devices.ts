import { formatAddress, parseAddress } from '../device/address.ts';
import { SettingsError, UsageError } from '../errors.ts';
import { fileStamp, readText, writeTextAtomically } from './files.ts';
import { withLock } from './lock.ts';

/** A certificate that the user accepted for one device. */
export interface Pin {
  /** `host:port` */
  readonly address: string;
  /** SHA-256 of the DER certificate: upper-case hex, pairs joined by colons. */
  readonly fingerprint: string;
  /** ISO 8601 date. */
  readonly firstSeen: string;
  /** ISO 8601 date; absent for a certificate that was pinned by its fingerprint before it was seen. */
  readonly validTo?: string;
  /** As the certificate says: untrusted text. Absent as `validTo`. */
  readonly subject?: string;
}

const HEADER = '# Certificates that devsh trusts, one line a device. See `devsh help trust`.';

/**
 * The pins in the file `known-devices`, which people may read and edit:
 * `10.0.0.5:443 sha256:AB:CD:… first-seen=2026-11-21T10:00:00.000Z valid-to=… subject=CN=fw1`.
 * A change to the file counts at once, each change of ours happens under its lock: two devshes lose nothing.
 * A line that cannot be understood is a SettingsError with its number, and nothing is written.
 */
export class KnownDevices {
  readonly path: string;
  /** What the file held when it last had this stamp: a fleet asks a thousand times. */
  #seen: { readonly stamp: string; readonly pins: ReadonlyMap<string, Pin> } | undefined;

  constructor(path: string) {
    this.path = path;
  }

  async find(address: string): Promise<Pin | undefined> {
    return (await this.#pins()).get(address);
  }

  async all(): Promise<Pin[]> {
    return [...(await this.#pins()).values()];
  }

  /** Pins a certificate; replaces the pin that the address had. */
  async set(pin: Pin): Promise<void> {
    const text = formatPin(pin);
    // What cannot be read back must not get into the file.
    const line: Line = { text, pin: parsePin(text, this.path) };
    await withLock(this.path, async () => {
      const lines = await this.#lines();
      const index = lines.findIndex((other) => other.pin?.address === line.pin?.address);
      if (index >= 0) lines[index] = line;
      else lines.push(line);
      await this.#write(lines);
    });
  }

  /** Forgets a pin; says whether there was one. */
  async remove(address: string): Promise<boolean> {
    return withLock(this.path, async () => {
      const lines = await this.#lines();
      const kept = lines.filter(({ pin }) => pin?.address !== address);
      if (kept.length === lines.length) return false;
      await this.#write(kept);
      return true;
    });
  }

  async #pins(): Promise<ReadonlyMap<string, Pin>> {
    // Taken before reading: a change in between makes the next call read again.
    const stamp = await fileStamp(this.path);
    if (this.#seen === undefined || this.#seen.stamp !== stamp) {
      const lines = await this.#lines();
      const pins = new Map(lines.flatMap(({ pin }) => (pin ? [[pin.address, pin]] : [])));
      this.#seen = { stamp, pins };
    }
    return this.#seen.pins;
  }

  async #lines(): Promise<Line[]> {
    const text = (await readText(this.path)) ?? `${HEADER}\n`;
    if (text === '') return [];
    return parseLines(text, this.path);
  }

  async #write(lines: readonly Line[]): Promise<void> {
    await writeTextAtomically(this.path, lines.map(({ text }) => `${text}\n`).join(''));
  }
}

/** One line of the file; a comment or an empty line has no pin. */
interface Line {
  readonly text: string;
  readonly pin?: Pin;
}

function parseLines(text: string, path: string): Line[] {
  const seen = new Map<string, number>();
  return text
    .replace(/\r?\n$/, '')
    .split(/\r?\n/)
    .map((line, index) => {
      if (/^\s*(#|$)/.test(line)) return { text: line };
      const where = `${path}:${index + 1}`;
      const pin = parsePin(line, where);
      const earlier = seen.get(pin.address);
      if (earlier !== undefined) {
        throw new SettingsError(
          `${where}: ${pin.address} is pinned in line ${earlier} already; delete one of the two`,
        );
      }
      seen.set(pin.address, index + 1);
      return { text: line, pin };
    });
}

const PIN_LINE =
  /^\s*(?<address>\S+)\s+sha256:(?<hex>\S+)\s+first-seen=(?<firstSeen>\S+)(?:\s+valid-to=(?<validTo>\S+))?(?:\s+subject=(?<subject>.*))?\s*$/;
const FINGERPRINT = /^(?:[0-9A-F]{2}:){31}[0-9A-F]{2}$/;

function parsePin(line: string, where: string): Pin {
  const { address, hex, firstSeen, validTo, subject } = PIN_LINE.exec(line)?.groups ?? {};
  if (address === undefined || hex === undefined || firstSeen === undefined) {
    throw new SettingsError(
      `${where}: not a pin ("HOST:PORT sha256:… first-seen=… valid-to=… subject=…"); ` +
        'correct or delete the line',
    );
  }
  const fingerprint = hex.toUpperCase();
  if (!FINGERPRINT.test(fingerprint)) {
    throw new SettingsError(
      `${where}: the fingerprint must be 32 pairs of hexadecimal digits joined by colons`,
    );
  }
  for (const date of [firstSeen, ...(validTo === undefined ? [] : [validTo])]) {
    if (Number.isNaN(Date.parse(date))) {
      throw new SettingsError(`${where}: not a date in the form 2026-11-21T10:00:00.000Z`);
    }
  }
  return {
    address: canonicalAddress(address, where),
    fingerprint,
    firstSeen,
    ...(validTo !== undefined && { validTo }),
    ...(subject !== undefined && { subject: unescapeText(subject) }),
  };
}

function canonicalAddress(text: string, where: string): string {
  try {
    return formatAddress(parseAddress(text));
  } catch (error) {
    if (error instanceof UsageError) throw new SettingsError(`${where}: ${error.message}`);
    throw error;
  }
}

function formatPin(pin: Pin): string {
  return [
    pin.address,
    `sha256:${pin.fingerprint}`,
    `first-seen=${pin.firstSeen}`,
    ...(pin.validTo === undefined ? [] : [`valid-to=${pin.validTo}`]),
    ...(pin.subject === undefined ? [] : [`subject=${escapeText(pin.subject)}`]),
  ].join(' ');
}

/** One line of visible text: what could break the line or deceive the eye becomes `\uXXXX`. */
function escapeText(text: string): string {
  return text
    .replaceAll('\\', '\\\\')
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]|^\s|\s$/gu, (match) =>
      Array.from(
        { length: match.length },
        (_, index) => `\\u${match.charCodeAt(index).toString(16).padStart(4, '0')}`,
      ).join(''),
    );
}

function unescapeText(text: string): string {
  return text.replace(/\\(?:u([0-9a-f]{4})|\\)/gi, (_, hex: string | undefined) =>
    hex === undefined ? '\\' : String.fromCharCode(parseInt(hex, 16)),
  );
}
