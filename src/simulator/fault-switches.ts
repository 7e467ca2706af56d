import type { Fault, FaultStage } from './faults/fault.ts';
import { FAULTS, type FaultName } from './faults.ts';

/** Which requests a fault is for. */
export interface FaultScope {
  /** Only requests with this method, in capitals. */
  readonly method?: string;
  /** Only requests after the first write. */
  readonly afterWrite?: boolean;
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
    return FAULTS.find(
      (fault): fault is Extract<(typeof FAULTS)[number], { stage: 'connection' }> =>
        fault.stage === 'connection' && this.#on.has(fault.name),
    );
  }

  clear(): void {
    this.#on.clear();
  }

  /** The first fault of a stage that strikes this request; counts it. */
  take<Stage extends FaultStage>(
    stage: Stage,
    { method, isAfterWrite }: { method: string; isAfterWrite: boolean },
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
