import { FAULTS, type Fault, type FaultName, type FaultStage } from './faults.ts';

/** Which requests a fault is for. */
export interface FaultScope {
  /** Only requests with this method, in capitals. */
  readonly method?: string;
}

interface Switch {
  /** How many more requests it strikes. */
  left: number;
  readonly scope: FaultScope;
}

type FaultNameAt = { [Stage in FaultStage]: Extract<Fault, { stage: Stage }>['name'] };

function isAt<Stage extends FaultStage>(
  fault: Fault,
  stage: Stage,
): fault is Fault & { name: FaultNameAt[Stage] } {
  return fault.stage === stage;
}

/** The faults that are on at one device. */
export class FaultSwitches {
  readonly #on = new Map<FaultName, Switch>();

  /** `on`: true until switched off, or how many requests; see `SimulatedDevice.setFault`. */
  set(name: FaultName, on: boolean | number, scope: FaultScope = {}): void {
    const once = name === '500-once' ? 1 : Infinity;
    const left = typeof on === 'number' ? on : on ? once : 0;
    if (left > 0) this.#on.set(name, { left, scope });
    else this.#on.delete(name);
  }

  isOn(name: FaultName): boolean {
    return this.#on.has(name);
  }

  clear(): void {
    this.#on.clear();
  }

  /** The first fault of a stage that strikes this request; counts it. */
  take<Stage extends FaultStage>(stage: Stage, method: string): FaultNameAt[Stage] | undefined {
    for (const fault of FAULTS) {
      if (!isAt(fault, stage) || fault.methods?.includes(method) === false) continue;
      const active = this.#on.get(fault.name);
      if (active === undefined || (active.scope.method ?? method) !== method) continue;
      active.left -= 1;
      if (active.left === 0) this.#on.delete(fault.name);
      return fault.name;
    }
    return undefined;
  }
}
