import { formatAddress, parseAddress } from '../device/address.ts';
import { SettingsError, UsageError } from '../errors.ts';

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

/** One line of the file; a comment or an empty line has no pin. */
export interface PinLine {
  readonly text: string;
  readonly pin?: Pin;
}

/** The lines of a file. Throws a SettingsError with the number of the line that cannot be understood. */
export function parsePinLines(text: string, path: string): PinLine[] {
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

/** Throws a SettingsError that begins with `where`. */
export function parsePin(line: string, where: string): Pin {
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

/** The line that says a pin. */
export function formatPin(pin: Pin): string {
  return [
    pin.address,
    `sha256:${pin.fingerprint}`,
    `first-seen=${pin.firstSeen}`,
    ...(pin.validTo === undefined ? [] : [`valid-to=${pin.validTo}`]),
    ...(pin.subject === undefined ? [] : [`subject=${escapeText(pin.subject)}`]),
  ].join(' ');
}

/** The pins by address. */
export function pinsIn(lines: readonly PinLine[]): ReadonlyMap<string, Pin> {
  return new Map(lines.flatMap(({ pin }) => (pin ? [[pin.address, pin]] : [])));
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
