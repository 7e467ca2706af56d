import { CONNECTION_FAULTS, FRAMING_FAULTS, HEADER_FAULTS } from './faults/transport.ts';
import { ENCODING_FAULTS } from './faults/encodings.ts';
import { JSON_FAULTS, RECORD_FAULTS, TEXT_FAULTS } from './faults/content.ts';
import { EMPTY_RESPONSES, REFUSALS } from './faults/refusals.ts';
import { WRITE_FAULTS } from './faults/writes.ts';
import type { Fault, FaultStage } from './faults/fault.ts';

/** All faults, in the order in which they strike. */
export const FAULTS = [
  ...CONNECTION_FAULTS,
  ...REFUSALS,
  ...EMPTY_RESPONSES,
  ...WRITE_FAULTS,
  ...HEADER_FAULTS,
  ...FRAMING_FAULTS,
  ...ENCODING_FAULTS,
  ...JSON_FAULTS,
  ...RECORD_FAULTS,
  ...TEXT_FAULTS,
] as const;

export type FaultName = (typeof FAULTS)[number]['name'];

/** Restricts a fault to some requests. */
export interface FaultScope {
  /** Only requests with this method, in capitals. */
  readonly method?: string;
  /** Only requests after the first write. */
  readonly afterWrite?: boolean;
}

/** The facts of a request that decide whether a fault strikes. */
export interface FaultTarget {
  readonly method: string;
  /** Whether a write came before. */
  readonly isAfterWrite: boolean;
}

interface Switch {
  /** How many more requests the fault strikes. */
  left: number;
  readonly scope: FaultScope;
}

type FaultAt<Stage extends FaultStage> = Extract<Fault, { stage: Stage }>;

function isAt<Stage extends FaultStage>(fault: Fault, stage: Stage): fault is FaultAt<Stage> {
  return fault.stage === stage;
}

export class FaultSwitches {
  readonly #on = new Map<string, Switch>();

  /** See `SimulatedDevice.setFault`. */
  set(name: FaultName, on: boolean | number, scope: FaultScope = {}): void {
    const isOnce = FAULTS.some((fault: Fault) => fault.name === name && fault.isOnce);
    const left = typeof on === 'number' ? on : on ? (isOnce ? 1 : Infinity) : 0;
    if (left > 0) this.#on.set(name, { left, scope });
    else this.#on.delete(name);
  }

  /** The first active connection fault. */
  get connection(): FaultAt<'connection'> | undefined {
    return CONNECTION_FAULTS.find(({ name }) => this.#on.has(name));
  }

  clear(): void {
    this.#on.clear();
  }

  /** Returns the first fault of a stage that strikes this request, and counts it. */
  take<Stage extends FaultStage>(
    stage: Stage,
    { method, isAfterWrite }: FaultTarget,
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
