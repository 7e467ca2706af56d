import { UsageError } from '../errors.ts';
import { CONNECTION_FAULTS } from './faults/connection.ts';
import { ENCODING_FAULTS } from './faults/encodings.ts';
import { JSON_FAULTS } from './faults/json.ts';
import { RECORD_FAULTS } from './faults/lists.ts';
import { PRETENCES, REFUSALS } from './faults/refusals.ts';
import { TEXT_FAULTS } from './faults/text.ts';
import { FRAMING_FAULTS, HEADER_FAULTS } from './faults/transport.ts';
import { WRITE_FAULTS } from './faults/writes.ts';

/** Every fault there is, in the order in which an exchange meets them. */
export const FAULTS = [
  ...CONNECTION_FAULTS,
  ...REFUSALS,
  ...PRETENCES,
  ...WRITE_FAULTS,
  ...HEADER_FAULTS,
  ...FRAMING_FAULTS,
  ...ENCODING_FAULTS,
  ...JSON_FAULTS,
  ...RECORD_FAULTS,
  ...TEXT_FAULTS,
] as const;

export type FaultName = (typeof FAULTS)[number]['name'];

/** `DEVICE:NAME` of `--fault`, taken apart. */
export interface FaultOption {
  /** Name (`sim2`) or address, as typed; it may contain colons itself. */
  readonly device: string;
  readonly fault: FaultName;
}

/** @throws UsageError when the text has no device or names no fault; it says where they are listed. */
export function parseFaultOption(text: string): FaultOption {
  const colon = text.lastIndexOf(':');
  const device = text.slice(0, Math.max(0, colon));
  const name = text.slice(colon + 1);
  const known = FAULTS.find((candidate) => candidate.name === name);
  const list = '"devsh simulator faults" lists them.';
  if (device === '') {
    throw new UsageError(
      `--fault wants DEVICE:NAME (such as sim2:silence), not "${text}". ${list}`,
    );
  }
  if (known === undefined) {
    throw new UsageError(`--fault: there is no fault "${name}". ${list}`, {
      suggestions: closest(
        name,
        FAULTS.map((candidate) => candidate.name),
      ),
    });
  }
  return { device, fault: known.name };
}

/** The candidates that share most of the word's letter pairs, best first, at most three. */
function closest(word: string, candidates: readonly string[]): string[] {
  const pairs = (text: string): string[] =>
    Array.from({ length: text.length + 1 }, (_, index) => ` ${text} `.slice(index, index + 2));
  const wanted = pairs(word.toLowerCase());
  return candidates
    .map((name) => {
      const own = pairs(name);
      const common = own.filter((pair) => wanted.includes(pair)).length;
      return { name, score: (2 * common) / (own.length + wanted.length) };
    })
    .filter(({ score }) => score >= 0.35)
    .sort((a, b) => b.score - a.score)
    .slice(0, 3)
    .map(({ name }) => name);
}
