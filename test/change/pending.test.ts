import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import {
  maskedFields,
  type Pending,
  pendingIn,
  pendingOf,
  type PendingWork,
  traceOf,
  unresolvedFilters,
} from '../../src/change/pending.ts';
import type { Change } from '../../src/change/change.ts';
import { journalLine, type Run, type StepState } from '../../src/change/journal.ts';
import { openingLines } from './steps.ts';
import type { DevicePlan, Plan } from '../../src/change/plan.ts';
import { RejectedError, UnauthorizedError, UnreachableError } from '../../src/device/errors.ts';
import {
  type DeviceRecord,
  type DeviceRef,
  exactNumber,
  valueText,
} from '../../src/device/record.ts';
import type { DevshError } from '../../src/errors.ts';
import { Inventory } from '../../src/fleet/inventory.ts';
import type { Services } from '../../src/shell/services.ts';
import { RunFiles } from '../../src/settings/run-files.ts';
import { readPending } from '../../src/shell/writing/pending.ts';
import { rounds } from '../rounds.ts';
import type { Step } from '../../src/change/step.ts';

const DEVICES = ['fw1', 'fw2', 'fw3'] as const;
type Name = (typeof DEVICES)[number];
const refOf = (name: string): DeviceRef => ({ name, address: `${name}:443` });
const anyone = (): boolean => true;

function change(action: 'add' | 'delete', key = 'bob'): Change {
  return action === 'add'
    ? { action, resource: 'user', fields: { username: key } }
    : { action, resource: 'user', target: { kind: 'key', key } };
}

function step(action: Step['action'], before?: DeviceRecord, asked: DeviceRecord = {}): Step {
  const key = valueText(before?.['username'] ?? asked['username'] ?? 'bob');
  const request = { method: 'POST' as const, path: '/api/user/' };
  return {
    action,
    resource: 'user',
    key,
    keyField: 'username',
    request,
    before,
    asked,
    effects: {},
  };
}

test('only fields with a mask must be given again, whatever the digits of the others', () => {
  const fields = { serial: 2n ** 60n, version: exactNumber('1.50'), password: '***', pin: ['***'] };
  expect(maskedFields({ action: 'add', resource: 'user', fields })).toEqual(['password', 'pin']);
});

function unread(name: string, changes: readonly Change[], error?: DevshError): DevicePlan {
  const device = refOf(name);
  const down = new UnreachableError(device, 'no route');
  return { device, steps: [], settled: [], error: error ?? down, changes, wanted: [] };
}

function ended(
  device: string,
  one: Step,
  verdict: 'done' | 'unknown' | 'failed',
  error?: DevshError,
): StepState {
  const { action, resource, key } = one;
  const result = { device: refOf(device), action, resource, key, verdict, error };
  return { kind: 'ended', at: '', result };
}

function run(
  id: number,
  devices: readonly DevicePlan[],
  states: ReadonlyMap<string, readonly StepState[]>,
  more: Partial<Plan> = {},
): Run {
  const name = `20260101-000000-${String(id).padStart(6, '0')}`;
  const head = { run: name, at: '', command: '', by: 'me', version: '0' };
  const plan = { run: name, devices, ...more };
  return { ...head, plan, isPlanned: true, states, stopReason: undefined, endedAt: '' };
}

const namesOf = (list: readonly Pending[]): string[] =>
  list.map(({ run, device, action, key }) => [run.run, device.name, action, key].join(' '));

const openIn = (list: readonly PendingWork[]): readonly Pending[] =>
  list.flatMap(({ pending, closed }) => (closed === undefined ? pending : []));
const openOf = (runs: readonly Run[]): readonly Pending[] =>
  openIn(pendingOf(runs.map(traceOf), anyone));

test('only what never reached the device is pending: no refusal of the change, and nothing sent without a verdict', () => {
  const bob = { username: 'bob' };
  const del = step('delete', bob);
  const device = refOf('x');
  const failures: readonly [string, DevshError][] = [
    ['login', new UnauthorizedError(device, 'refused', 401)],
    ['forbidden', new UnauthorizedError(device, 'no right', 403)],
    ['refused', new RejectedError(device, 'no', { status: 400 })],
    ['lost', new UnreachableError(device, 'reset', { mayHaveArrived: false })],
  ];
  const plans = failures.map(([name]) => ({ device: refOf(name), steps: [del], settled: [] }));
  const states = new Map(
    failures.map(([name, error]) => [name, [ended(name, del, 'failed', error)]]),
  );
  const unknown = { device: refOf('unknown'), steps: [del], settled: [] };
  const one = run(
    1,
    [
      ...plans,
      unknown,
      unread('down', [change('delete')]),
      unread('out', [change('delete')], failures[0]?.[1]),
    ],
    new Map([...states, ['unknown', [ended('unknown', del, 'unknown')]]]),
  );
  expect(pendingIn(traceOf(one)).map(({ device }) => device.name)).toEqual([
    'login',
    'lost',
    'unknown',
    'down',
    'out',
  ]);
});

test('of a filter the keys are pending that it matched on the devices that were read, with what these agree on', () => {
  const where: Change = {
    action: 'delete',
    resource: 'user',
    target: { kind: 'where', filter: 'lang=xx' },
  };
  const record = (username: string, email: string) => ({
    username,
    email,
    lang: 'xx',
    uuid: email,
  });
  const here = (name: string, records: readonly DeviceRecord[]): DevicePlan => ({
    device: refOf(name),
    steps: records.map((one) => step('delete', one)),
    settled: [],
  });
  const devices = [
    here('fw1', [record('ann', 'a@x'), record('bea', 'b@x')]),
    here('fw2', [record('ann', 'a@x'), record('bea', 'other@x')]),
    unread('fw3', [where]),
  ];
  const list = pendingIn(traceOf(run(1, devices, new Map()))).filter(
    ({ device }) => device.name === 'fw3',
  );
  expect(
    list.map(({ key, change: planned }) => [key, planned?.action === 'delete' && planned.expected]),
  ).toEqual([
    ['ann', { email: 'a@x' }],
    ['bea', undefined],
  ]);
  expect(unresolvedFilters(devices)).toEqual([]);
  expect(unresolvedFilters([unread('fw3', [where])])).toEqual([
    { device: refOf('fw3'), filter: 'lang=xx' },
  ]);
  expect(pendingIn(traceOf(run(1, [unread('fw3', [where])], new Map())))).toEqual([]);
});

test('a later change replaces a pending one only if it writes the same fields', () => {
  const set = (fields: DeviceRecord): Change => ({
    action: 'set',
    resource: 'user',
    target: { kind: 'key', key: 'bob' },
    fields,
  });
  const first = run(1, [unread('fw1', [set({ lang: 'de' })])], new Map());
  const later = (asked: DeviceRecord): Run => {
    const one = { ...step('set', { username: 'bob' }, asked) };
    return run(
      2,
      [{ device: refOf('fw1'), steps: [one], settled: [] }],
      new Map([['fw1', [ended('fw1', one, 'done')]]]),
    );
  };
  expect(openOf([first, later({ note: 'x' })])).toHaveLength(1);
  expect(openOf([first, later({ lang: 'fr', note: 'x' })])).toEqual([]);
});

test('the same line replaces what a device missed only if it reads the same file', () => {
  const wanted = [{ action: 'set', resource: 'user', key: 'bob' } as const];
  const importing = (id: number, plan: DevicePlan, input: string): Run => {
    const command = `import users.csv${id === 1 ? '' : ' --on fw1'}`;
    return { ...run(id, [plan], new Map(), { input }), command };
  };
  const first = importing(1, { ...unread('fw1', []), wanted }, '***a');
  const unchanged: DevicePlan = { device: refOf('fw1'), steps: [], settled: [] };
  expect(openOf([first, importing(2, unchanged, '***b')])).toHaveLength(1);
  expect(openOf([first, importing(2, unchanged, '***a')])).toEqual([]);
});

/** What happens to one key on three devices; `up` says which of them answer. */
type Up = readonly Name[];
type Event =
  | { readonly kind: 'write'; readonly action: 'add' | 'delete'; readonly up: Up }
  | { readonly kind: 'undo'; readonly of: number; readonly up: Up }
  /** `sent`: killed before it read back. */
  | { readonly kind: 'resume'; readonly up: Up; readonly outcome: 'done' | 'planned' | 'sent' }
  /** Another account on the same devices: none of its runs is about bob. */
  | { readonly kind: 'other'; readonly up: Up };

const up = fc.subarray([...DEVICES]);
const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('write' as const),
      action: fc.constantFrom('add' as const, 'delete' as const),
      up,
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('undo' as const), of: fc.nat(5), up }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('resume' as const),
      up,
      outcome: fc.constantFrom(
        'done' as const,
        'done' as const,
        'planned' as const,
        'sent' as const,
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('other' as const), up }) },
);

/** The text of the journal of a run. */
function journalOf({ plan, states, ...head }: Run): string {
  const events = [...states].flatMap(([device, list]) =>
    list.flatMap((state, index) => {
      const ref = { device, index };
      if (state.kind === 'waiting') return [];
      return state.kind === 'sent'
        ? journalLine({ kind: 'send', ref, at: '' })
        : journalLine({ kind: 'verdict', ref, at: '', result: state.result });
    }),
  );
  return [openingLines({ kind: 'run', ...head, ...plan }, plan.devices), ...events].join('');
}

const folder = await mkdtemp(join(tmpdir(), 'devsh-pending-'));
afterAll(() => rm(folder, { recursive: true }));

/** What happens to the index between two commands. */
type Damage = 'none' | 'lost' | 'cut' | 'rubbish' | 'other version' | 'changed';
const damages = fc.array(
  fc.constantFrom<Damage>(
    'none',
    'none',
    'none',
    'lost',
    'cut',
    'rubbish',
    'other version',
    'changed',
  ),
  { minLength: 14, maxLength: 14 },
);

/** A state folder, whose index is kept from one command to the next. */
class StateFolder {
  readonly #files: RunFiles;
  readonly services: Services;

  constructor(folder: string) {
    this.#files = new RunFiles(folder);
    const inventory = { load: () => Promise.resolve(new Inventory([])) };
    this.services = { runs: this.#files, inventory } as unknown as Services;
  }

  async update(runs: readonly Run[], damage: Damage): Promise<void> {
    for (const one of runs) {
      const text = journalOf(one);
      if ((await this.#files.read(one.run)) !== text) {
        await writeFile(this.#files.path(one.run), text);
      }
    }
    const index = await this.#files.readIndex();
    if (index === undefined || damage === 'none') return;
    await this.#files.writeIndex(
      {
        ...{ lost: '', cut: index.slice(0, index.length / 2), rubbish: `${index}{\n` },
        changed: index.replaceAll('bob', 'bab'),
        'other version': index.replace('devsh-pending/', 'devsh-pending/9'),
      }[damage],
    );
  }
}

const WAITING: StepState = { kind: 'waiting' };
const SENT: StepState = { kind: 'sent', at: '' };

/** A run whose step on one device was planned anew in its journal. */
function continued(before: Run, name: Name, planned: Step, state: StepState): Run {
  const devices = before.plan.devices.map((one) =>
    one.device.name === name ? { device: one.device, steps: [planned], settled: [] } : one,
  );
  const states = new Map([...before.states, [name, [state]]]);
  return { ...before, plan: { ...before.plan, devices }, states };
}

/** The same by replaying all intents of each device in order. */
class Model {
  readonly writes: {
    readonly run: number;
    readonly on: Map<Name, { readonly action: 'add' | 'delete'; isDone: boolean }>;
    readonly undoes?: number | undefined;
  }[] = [];

  isUndone(run: number): boolean {
    return this.writes.some((one) => one.undoes === run && !this.isUndone(one.run));
  }

  pendingOn(device: Name): { run: number; action: 'add' | 'delete' }[] {
    let pending: { run: number; action: 'add' | 'delete' }[] = [];
    for (const { run: id, on } of this.writes) {
      const intent = on.get(device);
      if (intent === undefined) continue;
      // What an undone run has replaced stays replaced.
      if (intent.isDone || intent.action === 'delete') pending = [];
      else pending = pending.filter(({ action }) => action !== 'add');
      if (!intent.isDone && !this.isUndone(id)) pending.push({ run: id, action: intent.action });
    }
    return pending;
  }
}

test('nothing pending is lost, or listed after it was done or replaced, whatever happens', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(event, { maxLength: 14 }), damages, async (events, damaged) => {
      const state = new StateFolder(await mkdtemp(join(folder, 'runs-')));
      const model = new Model();
      const runs: Run[] = [];
      const write = (
        action: (name: Name) => 'add' | 'delete' | undefined,
        up: Up,
        more: Partial<Plan> = {},
        undoes?: number,
        key = 'bob',
      ): void => {
        const id = runs.length + 1;
        const states = new Map<string, readonly StepState[]>();
        const on = new Map<Name, { action: 'add' | 'delete'; isDone: boolean }>();
        const plans = DEVICES.flatMap((name): DevicePlan[] => {
          const wanted = action(name);
          if (wanted === undefined) return [];
          on.set(name, { action: wanted, isDone: up.includes(name) });
          if (!up.includes(name)) return [unread(name, [change(wanted, key)])];
          const one = step(wanted, wanted === 'delete' ? { username: key } : undefined);
          states.set(name, [ended(name, one, 'done')]);
          return [{ device: refOf(name), steps: [one], settled: [] }];
        });
        runs.push(run(id, plans, states, more));
        model.writes.push({ run: id, on: key === 'bob' ? on : new Map<Name, never>(), undoes });
      };
      for (const [turn, one] of events.entries()) {
        if (one.kind === 'write') write(() => one.action, one.up);
        else if (one.kind === 'other') write(() => 'delete', one.up, {}, undefined, 'carol');
        else if (one.kind === 'undo') {
          const target = model.writes[one.of];
          const undone = target && runs[target.run - 1];
          if (target === undefined || undone === undefined || model.isUndone(target.run)) continue;
          const reverse = (name: Name) => {
            const done = target.on.get(name);
            return done?.isDone === true ? (done.action === 'add' ? 'delete' : 'add') : undefined;
          };
          write(
            reverse,
            one.up,
            { undoes: { run: undone.run, on: DEVICES.map((name) => refOf(name).address) } },
            target.run,
          );
        } else {
          for (const { run: from, device, action } of openOf(runs)) {
            const at = runs.findIndex(({ run: other }) => other === from.run);
            const name = DEVICES.find((other) => other === device.name);
            const intent = name && model.writes[at]?.on.get(name);
            const before = runs[at];
            if (name === undefined || intent === undefined || before === undefined) continue;
            if (!one.up.includes(name)) continue;
            const planned = step(action, action === 'delete' ? { username: 'bob' } : undefined);
            const state = { done: ended(name, planned, 'done'), planned: WAITING, sent: SENT }[
              one.outcome
            ];
            runs[at] = continued(before, name, planned, state);
            if (one.outcome === 'done') intent.isDone = true;
          }
        }
        for (const name of DEVICES) {
          const expected = model
            .pendingOn(name)
            .map(({ run: from, action }) => `${action} ${runs[from - 1]?.run ?? ''}`);
          const actual = openOf(runs).filter(
            ({ device, key }) => device.name === name && key === 'bob',
          );
          expect(actual.map((left) => `${left.action} ${left.run.run}`)).toEqual(expected);
        }
        // The index of an earlier command, whole or damaged, says the same as all journals.
        await state.update(runs, damaged[turn] ?? 'none');
        const found = await readPending(state.services);
        expect(namesOf(found.open)).toEqual(namesOf(openOf(runs)));
        expect(found.unreadable).toEqual([]);
      }
    }),
    { numRuns: rounds(500) },
  );
});

test('nothing is pending on a device that left the inventory; if it comes back, it is', () => {
  const one = run(1, [unread('fw1', [change('delete')])], new Map());
  expect(pendingOf([traceOf(one)], () => false)).toMatchObject([
    { closed: { code: 'unfinished', is: 'unlisted' } },
  ]);
  expect(openOf([one])).toHaveLength(1);
});
