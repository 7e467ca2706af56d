import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { type Debt, debtsOf, owedBy, traceOf, unresolvedFilters } from '../../src/change/debts.ts';
import type { Change } from '../../src/change/change.ts';
import { journalLine, openingLines, type Run, type StepState } from '../../src/change/journal.ts';
import type { DevicePlan, Plan, Step } from '../../src/change/plan.ts';
import { RejectedError, UnauthorizedError, UnreachableError } from '../../src/device/errors.ts';
import { type DeviceRecord, type DeviceRef, valueText } from '../../src/device/record.ts';
import type { DevshError } from '../../src/errors.ts';
import { Inventory } from '../../src/fleet/inventory.ts';
import type { Services } from '../../src/shell/services.ts';
import { RunFiles } from '../../src/settings/run-files.ts';
import { type OpenDebt, readDebts } from '../../src/shell/writing/owed.ts';
import { rounds } from '../rounds.ts';

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
    filled: {},
  };
}

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

const namesOfDebts = (debts: readonly OpenDebt[]): string[] =>
  debts.map(({ debt, state }) =>
    [debt.run.run, debt.device.name, debt.action, debt.key, state.kind].join(' '),
  );

const openOf = (runs: readonly Run[]): readonly Debt[] =>
  debtsOf(runs.map(traceOf), anyone).flatMap(({ debt, state }) =>
    state.kind === 'open' ? debt : [],
  );

test('only what never reached the device is owed: no refusal of the change, and nothing sent without a verdict', () => {
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
  expect(owedBy(traceOf(one)).map((debt) => debt.device.name)).toEqual([
    'login',
    'lost',
    'down',
    'out',
  ]);
});

test('a filter owes the keys that it matched on the devices that were read, with what these agree on', () => {
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
  const debts = owedBy(traceOf(run(1, devices, new Map())));
  expect(
    debts.map(({ key, change: planned }) => [
      key,
      planned?.action === 'delete' && planned.expected,
    ]),
  ).toEqual([
    ['ann', { email: 'a@x' }],
    ['bea', undefined],
  ]);
  expect(unresolvedFilters(devices)).toEqual([]);
  expect(unresolvedFilters([unread('fw3', [where])])).toEqual([
    { device: refOf('fw3'), filter: 'lang=xx' },
  ]);
  expect(owedBy(traceOf(run(1, [unread('fw3', [where])], new Map())))).toEqual([]);
});

test('a later change closes a debt only if it writes the same fields', () => {
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

/** What happens to one key on three devices; `up` says which of them answer. */
type Up = readonly Name[];
type Event =
  | { readonly kind: 'write'; readonly action: 'add' | 'delete'; readonly up: Up }
  | { readonly kind: 'undo'; readonly of: number; readonly up: Up }
  | { readonly kind: 'settle'; readonly up: Up; readonly crash: 'none' | 'planned' | 'sent' }
  | { readonly kind: 'resume' }
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
      kind: fc.constant('settle' as const),
      up,
      crash: fc.constantFrom('none' as const, 'none' as const, 'planned' as const, 'sent' as const),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'resume' as const }) },
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

const folder = await mkdtemp(join(tmpdir(), 'devsh-debts-'));
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

/** The same by replaying all intents of each device in order. */
class Model {
  readonly writes: {
    readonly run: number;
    readonly on: Map<Name, { action: 'add' | 'delete'; isDone: boolean }>;
    readonly undoes?: number | undefined;
  }[] = [];
  readonly settled = new Set<string>();
  readonly unconfirmed = new Map<string, number>();

  isUndone(run: number): boolean {
    return this.writes.some((one) => one.undoes === run && !this.isUndone(one.run));
  }

  owed(device: Name): { run: number; action: 'add' | 'delete' }[] {
    let owed: { run: number; action: 'add' | 'delete' }[] = [];
    for (const { run: id, on } of this.writes) {
      const intent = on.get(device);
      if (intent === undefined || this.isUndone(id)) continue;
      if (intent.isDone || intent.action === 'delete') owed = [];
      else owed = owed.filter(({ action }) => action !== 'add');
      if (!intent.isDone) owed.push({ run: id, action: intent.action });
    }
    return owed.filter((one) => !this.settled.has(`${device} ${one.run}`));
  }
}

test('no debt is lost, doubled, or settled after it was superseded, whatever happens', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(event, { maxLength: 14 }), damages, async (events, damaged) => {
      const state = new StateFolder(await mkdtemp(join(folder, 'runs-')));
      const model = new Model();
      const runs: Run[] = [];
      const sends = new Map<string, number>();
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
        const id = runs.length + 1;
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
        } else if (one.kind === 'settle') {
          const seen = new Set<string>();
          const due = openOf(runs).filter(({ device: { name }, key }) => {
            if (key !== 'bob') return false;
            if (!one.up.includes(name as Name) || seen.has(name)) return false;
            return seen.add(name);
          });
          if (due.length === 0) continue;
          const states = new Map<string, readonly StepState[]>();
          const plans = due.map(({ device, action, run: from }): DevicePlan => {
            const planned = step(action, action === 'delete' ? { username: 'bob' } : undefined);
            const origin = `${device.name} ${runs.findIndex(({ run: id }) => id === from.run) + 1}`;
            if (one.crash !== 'planned') sends.set(origin, (sends.get(origin) ?? 0) + 1);
            if (one.crash === 'none') {
              states.set(device.name, [ended(device.name, planned, 'done')]);
              model.settled.add(origin);
            } else {
              states.set(device.name, [
                one.crash === 'sent' ? { kind: 'sent', at: '' } : { kind: 'waiting' },
              ]);
              if (one.crash === 'sent') model.unconfirmed.set(origin, id);
            }
            return { device, steps: [planned], settled: [] };
          });
          runs.push(
            run(id, plans, states, { settles: [...new Set(due.map(({ run: from }) => from.run))] }),
          );
          model.writes.push({ run: id, on: new Map() });
        } else {
          for (const [origin, settling] of model.unconfirmed) {
            const before = runs[settling - 1];
            if (before === undefined) continue;
            const states = new Map(
              before.plan.devices.map(({ device: { name }, steps }) => [
                name,
                steps.map((planned) => ended(name, planned, 'done')),
              ]),
            );
            runs[settling - 1] = { ...before, states };
            model.settled.add(origin);
          }
          model.unconfirmed.clear();
        }
        for (const name of DEVICES) {
          const expected = model
            .owed(name)
            .filter(({ run: from }) => !model.unconfirmed.has(`${name} ${from}`))
            .map(({ run: from, action }) => `${action} ${runs[from - 1]?.run ?? ''}`);
          const actual = openOf(runs).filter(
            ({ device, key }) => device.name === name && key === 'bob',
          );
          expect(actual.map((debt) => `${debt.action} ${debt.run.run}`)).toEqual(expected);
        }
        // The index of an earlier command, whole or damaged, says the same as all journals.
        await state.update(runs, damaged[turn] ?? 'none');
        const all = debtsOf(runs.map(traceOf), anyone);
        const open = all.filter((debt) => debt.state.kind !== 'closed');
        const found = await readDebts(state.services);
        expect(namesOfDebts(found.open)).toEqual(namesOfDebts(open));
        expect(found.unreadable).toEqual([]);
      }
      expect([...sends.values()].filter((count) => count > 1)).toEqual([]);
    }),
    { numRuns: rounds(500) },
  );
});

test('a device that left the inventory closes its debt with that reason; if it comes back, so does the debt', () => {
  const one = run(1, [unread('fw1', [change('delete')])], new Map());
  expect(debtsOf([traceOf(one)], () => false)).toMatchObject([
    { state: { kind: 'closed', why: 'the device left the inventory' } },
  ]);
  expect(openOf([one])).toHaveLength(1);
});

test('a change that was planned and never sent expects the same person as then', () => {
  const bob = { username: 'bob', email: 'bob@example.net', is_active: true, visits: 7 };
  const set = step('set', bob, { is_active: false });
  const lost = new UnreachableError(refOf('fw1'), 'reset', { mayHaveArrived: false });
  const one = run(
    1,
    [{ device: refOf('fw1'), steps: [set], settled: [] }],
    new Map([['fw1', [ended('fw1', set, 'failed', lost)]]]),
  );
  expect(openOf([one]).map((debt) => debt.change)).toMatchObject([
    { action: 'set', fields: { is_active: false } },
  ]);
  const [debt] = openOf([one]);
  expect(debt?.change).toHaveProperty('expected', { email: 'bob@example.net', is_active: true });
});
