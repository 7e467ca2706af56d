import { someOf } from '../text/one-line.ts';
import { jsonEscape } from '../text/visible.ts';
import { formatAddress, parseAddress } from '../device/address.ts';
import { SettingsError, UsageError, attempt } from '../errors.ts';
import { fileStamp, readText, writeTextAtomically } from '../os/files.ts';
import { type GoodCopy, keepAside } from './cache.ts';
import { withLock } from '../os/lock.ts';

export interface Pin {
  /** `host:port` */
  readonly address: string;
  /** SHA-256 of the DER certificate: upper-case hex, pairs joined by colons. */
  readonly fingerprint: string;
  /** ISO 8601 date; empty for a fingerprint of the inventory. */
  readonly firstSeen: string;
  /** ISO 8601 date; absent for a fingerprint that was pinned before its certificate was seen. */
  readonly validTo?: string | undefined;
  /** From the certificate: untrusted text. Absent as `validTo`. */
  readonly subject?: string | undefined;
}

/** `since 2026-11-21`. */
export function pinnedText({ firstSeen }: Pick<Pin, 'firstSeen'>): string {
  return firstSeen === '' ? 'by the inventory' : `since ${firstSeen.slice(0, 10)}`;
}

/** One line of the file; a comment or an empty line has no pin. */
interface PinLine {
  readonly text: string;
  readonly pin?: Pin;
}

/** Parses the lines of a file. Throws a SettingsError with the number of the first invalid line. */
function parsePinLines(text: string, path: string): PinLine[] {
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
          `${where}: ${pin.address} is already pinned in line ${earlier}; delete one of the two`,
        );
      }
      seen.set(pin.address, index + 1);
      return { text: line, pin };
    });
}

const PIN_LINE =
  /^\s*(?<address>\S+)\s+sha256:(?<hex>\S+)\s+first-seen=(?<firstSeen>\S+)(?:\s+valid-to=(?<validTo>\S+))?(?:\s+subject=(?<subject>.*))?\s*$/;
const FINGERPRINT = /^(?:[0-9A-F]{2}:){31}[0-9A-F]{2}$/;

/** Throws a SettingsError that begins with `where`. */
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
    validTo,
    subject: subject && unescapeText(subject),
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

function pinsIn(lines: readonly PinLine[]): ReadonlyMap<string, Pin> {
  return new Map(lines.flatMap(({ pin }) => (pin ? [[pin.address, pin]] : [])));
}

/** Makes one line of visible text: replaces characters that could break the line or deceive the eye with `\uXXXX`. */
function escapeText(text: string): string {
  return text
    .replaceAll('\\', '\\\\')
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]|^\s|\s$/gu, jsonEscape);
}

function unescapeText(text: string): string {
  return text.replace(/\\(?:u([0-9a-f]{4})|\\)/gi, (_, hex: string | undefined) =>
    hex === undefined ? '\\' : String.fromCharCode(parseInt(hex, 16)),
  );
}

/** A pin that devsh wrote and that is missing or different in the file. */
interface Doubt {
  readonly pin: Pin;
  readonly reason: 'gone' | 'differs';
}

export interface PinFile {
  readonly pins: ReadonlyMap<string, Pin>;
  /** The pins that another program removed or changed. */
  readonly doubts: readonly Doubt[];
}

const HEADER = '# Certificates that devsh trusts, one line a device. See `devsh help trust`.';

/**
 * The pins in `known-devices`, which people may read and edit, a line for each: `10.0.0.5:443 sha256:AB:CD:… subject=…`.
 * A pin that is missing there, or differs from the good copy, is in doubt until `restore`, or until it is pinned again.
 */
export class KnownDevices {
  readonly path: string;
  readonly #copy: GoodCopy;
  /** The parsed file at this stamp. */
  #seen: { readonly stamp: string; readonly pinFile: PinFile } | undefined;

  constructor(path: string, copy: GoodCopy) {
    this.path = path;
    this.#copy = copy;
  }

  async find(address: string): Promise<Pin | undefined> {
    return (await this.pinFile()).pins.get(address);
  }

  /** The whole file in its current state, for callers that need many devices at once. */
  async pinFile(): Promise<PinFile> {
    // Taken before reading, so that a change in between makes the next call read again.
    const stamp = await fileStamp(this.path);
    if (this.#seen?.stamp !== stamp) {
      const lines = await this.#lines();
      const doubts = doubtsOf(lines, (await this.#copyLines()) ?? []);
      this.#seen = { stamp, pinFile: { pins: pinsIn(lines), doubts } };
    }
    return this.#seen.pinFile;
  }

  /** Pins certificates in one write; each replaces the pin of its address. */
  async set(...pins: readonly Pin[]): Promise<void> {
    const added = new Map(
      pins.map((pin): [string, PinLine] => {
        const text = formatPin(pin);
        // A pin that cannot be parsed again must not get into the file.
        return [pin.address, { text, pin: parsePin(text, this.path) }];
      }),
    );
    await this.#edit((lines) => {
      const present = new Set(lines.map(({ pin }) => pin?.address));
      const kept = lines.map((line) => (line.pin && added.get(line.pin.address)) ?? line);
      return [...kept, ...[...added].flatMap(([at, line]) => (present.has(at) ? [] : [line]))];
    });
  }

  /** Removes a pin; resolves to whether there was one. */
  async remove(address: string): Promise<boolean> {
    let wasKnown = false;
    await this.#edit((lines) => {
      const kept = lines.filter(({ pin }) => pin?.address !== address);
      wasKnown ||= kept.length < lines.length;
      return kept;
    });
    return wasKnown;
  }

  /** Adds the pins that only the file has; keeps its old content aside. Throws a SettingsError without a copy. */
  async restore(now: Date): Promise<{ readonly pins: number; readonly aside: string | undefined }> {
    return withLock(this.path, async () => {
      const good = await this.#copyLines();
      if (good === undefined) {
        throw new SettingsError(`there is no good copy of ${this.path} to restore`);
      }
      const known = pinsIn(good);
      const added = (await this.#soundLines()).filter(({ pin }) => pin && !known.has(pin.address));
      const aside = await keepAside(this.path, now);
      const lines = [...good, ...added];
      await writeTextAtomically(this.path, textOf(lines));
      await this.#copy.keep(textOf(lines));
      return { pins: pinsIn(lines).size, aside };
    });
  }

  /** Makes the same change to the file and to its good copy, which may have more pins. */
  async #edit(change: (lines: readonly PinLine[]) => readonly PinLine[]): Promise<void> {
    await withLock(this.path, async () => {
      const lines = await this.#lines();
      const copy = await this.#copyLines();
      const isInDoubt = copy !== undefined && doubtsOf(lines, copy).length > 0;
      const changed = change(lines);
      if (textOf(changed) !== textOf(lines)) await writeTextAtomically(this.path, textOf(changed));
      await this.#copy.keep(textOf(isInDoubt ? change(copy) : changed));
    });
  }

  async #lines(): Promise<readonly PinLine[]> {
    try {
      const text = (await readText(this.path)) ?? `${HEADER}\n`;
      return text === '' ? [] : parsePinLines(text, this.path);
    } catch (error) {
      const copy = await this.#copyLines();
      if (!(error instanceof SettingsError) || copy === undefined) throw error;
      throw new SettingsError(
        `${error.message}; "trust restore" restores what devsh wrote last (${pinsIn(copy).size} pins)`,
        { cause: error },
      );
    }
  }

  /** The valid lines of a damaged file. */
  async #soundLines(): Promise<readonly PinLine[]> {
    const text = await readText(this.path).catch(() => undefined);
    return (text ?? '')
      .split('\n')
      .flatMap((line) => attempt(SettingsError, () => parsePinLines(line, this.path)) ?? []);
  }

  /** Undefined if the good copy is missing or damaged itself. */
  async #copyLines(): Promise<readonly PinLine[] | undefined> {
    const text = await this.#copy.read();
    if (text === undefined) return undefined;
    return attempt(SettingsError, () => parsePinLines(text, this.#copy.path));
  }
}

function doubtsOf(lines: readonly PinLine[], copy: readonly PinLine[]): Doubt[] {
  const current = pinsIn(lines);
  return [...pinsIn(copy).values()].flatMap((pin): Doubt[] => {
    const now = current.get(pin.address);
    if (now === undefined) return [{ pin, reason: 'gone' }];
    return formatPin(now) === formatPin(pin) ? [] : [{ pin, reason: 'differs' }];
  });
}

function textOf(lines: readonly PinLine[]): string {
  return lines.map(({ text }) => `${text}\n`).join('');
}

/** Describes the pins in doubt and the ways out; undefined if there are none. */
export async function doubtsText(knownDevices: KnownDevices): Promise<string | undefined> {
  const { doubts } = await knownDevices.pinFile();
  if (doubts.length === 0) return undefined;
  const list = (reason: 'gone' | 'differs'): string[] =>
    doubts.filter((doubt) => doubt.reason === reason).map(({ pin }) => pin.address);
  const [gone, altered] = [list('gone'), list('differs')];
  const what = [
    ...(gone.length > 0 ? [`${gone.length} gone (${someOf(gone)})`] : []),
    ...(altered.length > 0 ? [`${altered.length} altered (${someOf(altered)})`] : []),
  ];
  return (
    `${knownDevices.path} was changed by another program: pins ${what.join(', ')}. ` +
    '"trust restore" restores them; if you changed it, use "trust forget DEVICE" or "trust replace DEVICE"'
  );
}
