import { UsageError } from '../errors.ts';
import { CONNECTION_FAULTS, FRAMING_FAULTS, HEADER_FAULTS } from './faults/transport.ts';
import { ENCODING_FAULTS } from './faults/encodings.ts';
import { JSON_FAULTS, RECORD_FAULTS, TEXT_FAULTS } from './faults/content.ts';
import { PRETENCES, REFUSALS } from './faults/refusals.ts';
import { WRITE_FAULTS } from './faults/writes.ts';
import type { Fault, FaultStage } from './faults/fault.ts';

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

/** Which requests a fault is for. */
export interface FaultScope {
  /** Only requests with this method, in capitals. */
  readonly method?: string;
  /** Only requests after the first write. */
  readonly afterWrite?: boolean;
}

/** What of a request decides whether a fault strikes it. */
export interface Struck {
  readonly method: string;
  /** Another write was served before. */
  readonly isAfterWrite: boolean;
}

interface Switch {
  /** How many more requests it strikes. */
  left: number;
  readonly scope: FaultScope;
}

type FaultAt<Stage extends FaultStage> = Extract<Fault, { stage: Stage }>;

function isAt<Stage extends FaultStage>(fault: Fault, stage: Stage): fault is FaultAt<Stage> {
  return fault.stage === stage;
}

/** The faults that are on at one device. */
export class FaultSwitches {
  readonly #on = new Map<string, Switch>();

  /** `on`: true until switched off, or how many requests; see `SimulatedDevice.setFault`. */
  set(name: FaultName, on: boolean | number, scope: FaultScope = {}): void {
    const isOnce = FAULTS.some((fault: Fault) => fault.name === name && fault.isOnce);
    const left = typeof on === 'number' ? on : on ? (isOnce ? 1 : Infinity) : 0;
    if (left > 0) this.#on.set(name, { left, scope });
    else this.#on.delete(name);
  }

  /** The first fault of the connection that is on. */
  get connection(): FaultAt<'connection'> | undefined {
    return CONNECTION_FAULTS.find(({ name }) => this.#on.has(name));
  }

  clear(): void {
    this.#on.clear();
  }

  /** The first fault of a stage that strikes this request; counts it. */
  take<Stage extends FaultStage>(
    stage: Stage,
    { method, isAfterWrite }: Struck,
  ): FaultAt<Stage> | undefined {
    const faults: readonly Fault[] = FAULTS;
    for (const fault of faults) {
      if (!isAt(fault, stage) || fault.methods?.includes(method) === false) continue;
      const active = this.#on.get(fault.name);
      if (active === undefined || (active.scope.method ?? method) !== method) continue;
      if (active.scope.afterWrite === true && !isAfterWrite) continue;
      active.left -= 1;
      if (active.left === 0) this.#on.delete(fault.name);
      return fault;
    }
    return undefined;
  }
}
