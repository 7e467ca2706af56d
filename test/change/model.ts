import { type ApplyEvent, applyPlan } from '../../src/change/apply.ts';
import type { Change } from '../../src/change/change.ts';
import { journalLine, type Run } from '../../src/change/journal.ts';
import { parseJournal } from '../../src/change/read-journal.ts';
import {
  type DevicePlan,
  EmptyJournalError,
  mergeDevicePlans,
  type Plan,
} from '../../src/change/plan.ts';
import { withContinued } from '../../src/change/continued-run.ts';
import { attempt } from '../../src/errors.ts';
import { planDevice } from '../../src/change/plan-device.ts';
import { encodeForm } from '../../src/device/encode.ts';
import { ProtocolError, RejectedError, UnreachableError } from '../../src/device/errors.ts';
import { documentedProfile } from '../../src/device/built-in-profiles.ts';
import type { DeviceRecord, DeviceRef } from '../../src/device/record.ts';
import type { Access } from '../../src/fleet/access.ts';
import type { DeviceSession } from '../../src/fleet/device-session.ts';
import { scripted } from './scripted.ts';
import { openingLines } from './steps.ts';
import type { Step } from '../../src/change/step.ts';

/** What the model does with one write. `late` is stored, but shows only in the second reading. */
export const FAULTS = [
  'none',
  'refuse',
  '500',
  'drop',
  'store-and-drop',
  'forget',
  'late',
] as const;
export type ModelFault = (typeof FAULTS)[number];

/** Faults after which the device has the requested state. */
export const STORED: readonly ModelFault[] = ['none', 'store-and-drop', 'late'];

/** devsh was killed: nothing continues. */
export class Crash extends Error {}

/** Counts down to the crash, over all devices and the journal; each event is one tick. */
export class Fuse {
  #left: number;

  constructor(ticks: number) {
    this.#left = ticks;
  }

  /** Throws when the count is down, and ever after. */
  tick(): void {
    if (this.#left <= 0) throw new Crash();
    this.#left -= 1;
  }
}

/** One device as a list of users, which speaks the documented API. The crash may come before or after a write. */
export class ModelDevice {
  readonly ref: DeviceRef;
  records: readonly DeviceRecord[];
  /** The stored writes, as sent. */
  readonly stored: string[] = [];
  readonly #faults: ModelFault[];
  #late: readonly DeviceRecord[] | undefined;
  #lastId = 0;

  constructor(name: string, usernames: readonly string[], faults: readonly ModelFault[]) {
    this.ref = { name, address: `${name}:443` };
    this.#faults = [...faults];
    this.records = usernames.map((username) => ({
      uuid: this.#newId(),
      first_name: username,
      lastname: '',
      username,
      lang: 'en',
    }));
  }

  /** The session of one devsh, until its fuse burns down. */
  through(fuse: Fuse): { session: DeviceSession; access: Access } {
    return scripted(this.ref, {
      list: () => this.#list(fuse),
      write: (request) => this.#write(request, fuse),
    });
  }

  clearFaults(): void {
    this.#faults.length = 0;
  }

  async #list(fuse: Fuse): Promise<readonly DeviceRecord[]> {
    await Promise.resolve();
    fuse.tick();
    const { records } = this;
    if (this.#late !== undefined) [this.records, this.#late] = [this.#late, undefined];
    return records;
  }

  async #write(request: Step['request'], fuse: Fuse): Promise<void> {
    await Promise.resolve();
    fuse.tick();
    const fault = this.#faults.shift() ?? 'none';
    if (STORED.includes(fault)) this.#store(request, fault === 'late');
    fuse.tick();
    switch (fault) {
      case 'refuse':
        throw new RejectedError(this.ref, 'refused', { status: 400 });
      case '500':
        throw new ProtocolError(this.ref, 'an error inside', { status: 500 });
      case 'drop':
      case 'store-and-drop':
        throw new UnreachableError(this.ref, 'no answer', { mayHaveArrived: true });
      case 'none':
      case 'forget':
      case 'late':
    }
  }

  #store({ method, path, form = [] }: Step['request'], isLate: boolean): void {
    this.stored.push(`${method} ${path} ${encodeForm(form)}`);
    const fields: DeviceRecord = Object.fromEntries(form);
    const id = method === 'DELETE' ? path.split('/').at(-2) : fields['uuid'];
    const others = this.records.filter(({ uuid }) => uuid !== id);
    const isKnown = others.length < this.records.length;
    let next = others;
    if (method === 'POST') {
      next = isKnown
        ? this.records.map((one) => (one['uuid'] === id ? { ...one, ...fields } : one))
        : [...others, { ...fields, uuid: this.#newId() }];
    }
    if (isLate) this.#late = next;
    else this.records = next;
  }

  #newId(): string {
    this.#lastId += 1;
    return `${this.ref.name}-${this.#lastId}`;
  }
}

/** Plans a change set from the current users of the devices. */
export function planFor(devices: readonly ModelDevice[], changes: readonly Change[]): Plan {
  return {
    run: '20261121-093041-k3qd7m',
    devices: devices.map(({ ref, records }) =>
      mergeDevicePlans(
        ref,
        changes.map((change) =>
          planDevice({ device: ref, profile: documentedProfile }, change, records),
        ),
      ),
    ),
  };
}

const AT = '2026-11-21T09:30:41.000Z';

/** The journals of a run and of those that continue it: after a crash the last line may be incomplete. */
export class ModelJournal {
  readonly #texts: string[];
  hasBegun = false;

  constructor(plan: Plan) {
    this.#texts = [opening(plan)];
  }

  /** That of the run itself. */
  get text(): string {
    return this.#texts[0] ?? '';
  }

  get run(): Run {
    const [first, ...later] = this.#texts.flatMap((text) => {
      const run = attempt(EmptyJournalError, () => parseJournal(text, 'journal'));
      return run?.isPlanned === true ? run : [];
    });
    if (first === undefined) throw new Error('no run');
    return withContinued(first, later);
  }

  begin(plan: Plan, fuse: Fuse): void {
    this.#texts.push('');
    this.#append(opening(plan), fuse);
  }

  append(line: string, fuse: Fuse): Promise<void> {
    this.#append(line, fuse);
    return Promise.resolve();
  }

  #append(line: string, fuse: Fuse): void {
    const text = this.#texts.pop() ?? '';
    let kept = line;
    try {
      fuse.tick();
    } catch (error) {
      kept = text === '' || text.endsWith('\n') ? line.slice(0, Math.floor(line.length / 2)) : '';
      throw error;
    } finally {
      this.#texts.push(text + kept);
    }
  }

  /** The journal, opened again. */
  dropHalfLine(): void {
    const text = this.#texts.pop() ?? '';
    this.#texts.push(text.slice(0, text.lastIndexOf('\n') + 1));
  }
}

function opening(plan: Plan): string {
  const { run, devices, of } = plan;
  const head = { run, at: AT, command: 'apply model', by: 'ann@desk', version: '1.0.0', of };
  return openingLines({ kind: 'run', ...head }, devices);
}

/** As `resume` does: a new run of what has no verdict, planned anew where it was sent. */
async function continued(
  devices: readonly ModelDevice[],
  { plan, states, run, command }: Run,
  fuse: Fuse,
): Promise<Plan> {
  const plans: DevicePlan[] = [];
  for (const { device, steps } of plan.devices) {
    const { session, access } =
      devices.find(({ ref }) => ref.name === device.name)?.through(fuse) ?? {};
    if (session === undefined || access === undefined) continue;
    const profile = documentedProfile;
    const left = steps.filter((_, at) => states.get(device.name)?.[at]?.kind !== 'ended');
    const parts: Pick<DevicePlan, 'steps' | 'settled'>[] = [];
    for (const step of left) {
      if (states.get(device.name)?.[steps.indexOf(step)]?.kind !== 'sent') {
        parts.push({ steps: [step], settled: [] });
        continue;
      }
      const { action, resource, key, asked: fields } = step;
      const target = { kind: 'key', key } as const;
      const change: Change = { action, resource, target, fields, isExact: true, sent: step };
      // A late effect shows at the second reading.
      await session.list(access, resource);
      const records = await session.list(access, resource);
      parts.push(planDevice({ device, profile }, change, records));
    }
    const all = { steps: parts.flatMap((one) => one.steps), takesOver: left };
    plans.push({ device, ...all, settled: parts.flatMap((one) => one.settled) });
  }
  return {
    run: `${run}-${Math.random().toString(36).slice(2)}`,
    devices: plans,
    of: { run, command },
  };
}

/** Runs the remaining steps of the journal, until they are done or the fuse has burnt down. */
export async function runRemaining(
  devices: readonly ModelDevice[],
  journal: ModelJournal,
  fuse: Fuse,
  width = 1,
): Promise<{ events: ApplyEvent[]; hasCrashed: boolean }> {
  journal.dropHalfLine();
  const events: ApplyEvent[] = [];
  let { plan } = journal.run;
  try {
    if (journal.hasBegun) {
      plan = await continued(devices, journal.run, fuse);
      journal.begin(plan, fuse);
    }
    journal.hasBegun = true;
  } catch (error) {
    if (!(error instanceof Crash)) throw error;
    return { events, hasCrashed: true };
  }
  const targets = devices.map((device) => device.through(fuse));
  const [{ access }] = targets as [(typeof targets)[number]];
  const applying = applyPlan(plan, {
    sessions: targets.map(({ session }) => session),
    access,
    width,
    // Its devices have few records, and may lose the last one.
    allowed: new Set(['protected']),
    rollOut: { canary: 0, batch: undefined, pauseMs: 0, maxFailures: undefined },
    signal: new AbortController().signal,
    exclusive: (_device, work) => work(),
    afterCanary: () => Promise.resolve(undefined),
    settleDelaysMs: [0],
    journal: {
      sending: (ref, step) =>
        journal.append(journalLine({ kind: 'send', ref, at: AT, ...(step && { step }) }), fuse),
      ended: (ref, result) =>
        journal.append(journalLine({ kind: 'verdict', ref, at: AT, result }), fuse),
      stopped: (reason) => journal.append(journalLine({ kind: 'stop', at: AT, reason }), fuse),
    },
  });
  try {
    for await (const event of applying) events.push(event);
    return { events, hasCrashed: false };
  } catch (error) {
    if (!(error instanceof Crash)) throw error;
    return { events, hasCrashed: true };
  }
}
