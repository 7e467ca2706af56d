import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type DeviceRecord, valueText } from '../../src/device/record.ts';
import { type Event, eventsOf } from '../../src/history/events.ts';
import { wholeStateBefore } from '../../src/history/history-files.ts';
import { compacted } from '../../src/history/compact.ts';
import { Keeper } from '../../src/history/kept.ts';
import { lineText, replay } from '../../src/history/replay.ts';
import { lastLine, nextLines, type NewReading, sameLine } from '../../src/history/next-lines.ts';
import { rounds } from '../rounds.ts';

const keeper = new Keeper(createHash('sha256').update('test').digest());

/** What happens to the device and to its readings, in order. */
const happening = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('write' as const), user: fc.nat(3), lang: fc.nat(2) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove' as const), user: fc.nat(3) }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('read' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('late read' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('new pin' as const), id: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('new name' as const), id: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('trust replace' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('new address' as const), id: fc.nat(2) }) },
);

const setBack = fc.record({
  kind: fc.constant('set back' as const),
  byMs: fc.integer({ min: 2_000, max: 20_000 }),
});

/** What happens to the file. `place` is a share of its length. */
const damage = fc.oneof(
  fc.record({ kind: fc.constant('cut' as const), bytes: fc.nat(400) }),
  fc.record({
    kind: fc.constant('hole' as const),
    place: fc.double({ min: 0, max: 0.999, noNaN: true }),
    bytes: fc.integer({ min: 1, max: 400 }),
  }),
  fc.record({
    kind: fc.constant('flip' as const),
    place: fc.double({ min: 0, max: 0.999, noNaN: true }),
    char: fc.constantFrom('0', '1', '2', '}', '\n', ' '),
  }),
  fc.record({
    kind: fc.constant('lost line' as const),
    place: fc.double({ min: 0, max: 0.999, noNaN: true }),
  }),
  fc.record({ kind: fc.constant('compact' as const), back: fc.nat(200) }),
);

type Happening =
  | (typeof happening extends fc.Arbitrary<infer T> ? T : never)
  | (typeof setBack extends fc.Arbitrary<infer T> ? T : never)
  | (typeof damage extends fc.Arbitrary<infer T> ? T : never);

type Users = ReadonlyMap<string, DeviceRecord>;

/** What the device was from `since` on. */
interface TrueState {
  readonly since: number;
  readonly device: string;
  readonly users: Users;
}

/** A reading that was appended, and of which box it was. */
interface Kept {
  readonly reading: NewReading;
  readonly device: string;
}

/**
 * `cuts`: the list ends after 20 records, most of which never change. `shifts`: a delete between two pages now and then
 * hides a record that was read before.
 */
type Habit = 'cuts' | 'shifts';
const CUT = 20;
const FILLERS = Array.from({ length: CUT - 1 }, (_, at) => ({ username: `f${at}`, lang: 'l' }));

function listed(users: Users, habit: Habit | undefined): DeviceRecord[] {
  const all = [...users.values()];
  return habit === 'cuts' ? [...FILLERS, ...all].slice(0, CUT) : all;
}

/** What a list may show. */
function mayBeListed(users: Users, habit: Habit | undefined): DeviceRecord[][] {
  const all = listed(users, habit);
  return habit === 'shifts' ? [all, ...all.map((_, at) => all.toSpliced(at, 1))] : [all];
}

/** So that a file of some readings has several whole states. */
const BYTES_BETWEEN = 500;

function endOf(text: string, since = Infinity): string {
  const bytes = Buffer.from(text);
  return bytes.toString('utf8', wholeStateBefore(bytes, since) ?? 0);
}

/** Carries out what happens. The file is written as by processes that see each other's lines. */
function world(happenings: readonly Happening[], habit?: Habit) {
  let now = 100_000_000;
  let reads = 0;
  let text = '';
  let [pin, address, name] = ['p0', 'a0', 'fw1'];
  // The box that has a pin and an address, and all that have had them.
  let count = 0;
  const boxes = new Map<string, string>();
  const had = new Map<string, Set<string>>();
  const box = (): string => {
    const id = `${pin} ${address}`;
    const one = boxes.get(id) ?? `box ${++count}`;
    boxes.set(id, one);
    had.set(id, (had.get(id) ?? new Set()).add(one));
    return one;
  };
  let users = new Map<string, DeviceRecord>();
  const truth: TrueState[] = [{ since: 0, device: box(), users: new Map() }];
  const kept: Kept[] = [];
  let early: NewReading | undefined;
  const changed = (): void => {
    truth.push({ since: now, device: box(), users: new Map(users) });
  };
  const isGone = (name: string): boolean =>
    [...users.values()].every(({ username }) => username !== name);
  const shifted = (): DeviceRecord[] => {
    const last = kept.findLast(({ device }) => device === box())?.reading.records ?? [];
    const hidden = valueText((now / 10) % 3 === 0 ? last[(now / 10) % 4]?.['username'] : undefined);
    const { end, damaged } = replay(text);
    // What a file has lost without a trace, was never read.
    const isRead = damaged > 0 || end?.resources.get('user')?.at(-1)?.state.has(hidden);
    return [...users.values()].filter(({ username }) => username !== hidden || !isRead);
  };
  const reading = (from: number): NewReading => ({
    identity: { name, address, pin, digestKey: 'k' },
    ...{ resource: 'user', keyField: 'username', moving: [], idFields: [], from, to: now },
    records: habit === 'shifts' ? shifted() : listed(users, habit),
    // Their own paths have said so.
    absent: new Set(Array.from({ length: 20 }, (_, index) => `u${index}`).filter(isGone)),
  });
  const keep = (one: NewReading): void => {
    if (text !== '' && !text.endsWith('\n')) text += '\n';
    const isSound = replay(endOf(text)).damaged === 0;
    const same = isSound && sameLine(lastLine(text.slice(-4096), 'user'), one, keeper);
    const lines = same
      ? lineText(same)
      : nextLines(endOf(text), one, keeper, now, BYTES_BETWEEN)?.text;
    if (lines === undefined) return;
    text += lines;
    kept.push({ reading: one, device: box() });
  };
  const isReplaced = (): void => {
    users = new Map([...users].slice(0, 1));
    early = undefined;
    changed();
  };
  for (const one of happenings) {
    now += 10;
    switch (one.kind) {
      case 'write': {
        const username = `u${one.user}`;
        users.set(username, { username, lang: `l${one.lang}`, password: `secret-${one.lang}` });
        changed();
        break;
      }
      case 'remove':
        users.delete(`u${one.user}`);
        changed();
        break;
      case 'read':
        // Another process read before, and writes first or last.
        if (now % 40 === 0) early = reading(now - 5);
        keep(reading(now - 5));
        reads += 1;
        break;
      case 'set back':
        now -= one.byMs;
        // Once the clock has stepped, nobody can tell that a reading is late.
        early = undefined;
        break;
      case 'late read':
        if (early !== undefined) keep(early);
        early = undefined;
        break;
      case 'new pin':
        pin = `p${one.id}`;
        isReplaced();
        break;
      case 'new address':
        address = `a${one.id}`;
        isReplaced();
        break;
      case 'new name':
        name = `fw${one.id}`;
        break;
      case 'trust replace': {
        const { end } = replay(text);
        const last = end?.identities[0];
        if (last?.pin !== pin || last.address !== address || !text.endsWith('\n')) break;
        const same = box();
        boxes.delete(`${pin} ${address}`);
        pin = `r${now}`;
        boxes.set(`${pin} ${address}`, same);
        text += lineText({ ...last, kind: 'life', at: now, pin, replaces: last.pin });
        early = undefined;
        changed();
        break;
      }
      case 'cut':
        text = text.slice(0, Math.max(0, text.length - one.bytes));
        break;
      case 'hole': {
        const at = Math.floor(text.length * one.place);
        text = text.slice(0, at) + text.slice(at + one.bytes);
        break;
      }
      case 'flip': {
        const at = Math.floor(text.length * one.place);
        if (text !== '') text = text.slice(0, at) + one.char + text.slice(at + 1);
        break;
      }
      case 'lost line': {
        const rows = text.split('\n');
        rows.splice(Math.floor(rows.length * one.place), 1);
        text = rows.join('\n');
        break;
      }
      case 'compact':
        text = compacted(text, now - one.back);
        break;
    }
  }
  return { text, truth, kept, reads, had };
}

function textOf(records: Iterable<DeviceRecord>): string {
  const rows = Array.from(records, (one) =>
    JSON.stringify(Object.entries({ ...one, password: '***' }).sort()),
  );
  return rows.sort().join('\n');
}

const since = fc.integer({ min: 100_000_000 - 20_000, max: 100_000_000 + 600 });
const runs = { numRuns: rounds(400) };

test('whatever happens to the file, a state of the past is one that this very device had', () => {
  const some = fc.array(
    fc.oneof({ weight: 7, arbitrary: happening }, { weight: 1, arbitrary: damage }),
    { maxLength: 60 },
  );
  fc.assert(
    fc.property(
      some,
      since,
      fc.constantFrom(undefined, 'cuts' as const, 'shifts' as const),
      (happenings, from, habit) => {
        const { text, truth, had } = world(happenings, habit);
        expect(text).not.toContain('secret-');
        const { periods } = replay(endOf(text, from), from);
        for (const { identities, resources } of periods) {
          const owners = identities.map(({ pin, address }) => had.get(`${pin} ${address}`));
          // Two boxes that had one pin at one address are one device for devsh.
          const devices = owners.reduce((all = new Set(), some = new Set()) =>
            all.isDisjointFrom(some) ? new Set() : all.union(some),
          );
          for (const { from, to, state } of resources.get('user') ?? []) {
            const during = truth.filter(
              (one, index) =>
                devices?.has(one.device) === true &&
                one.since <= to &&
                (truth[index + 1]?.since ?? Infinity) >= from,
            );
            const shown = textOf(Array.from(state.values(), ({ fields }) => fields));
            const lists = during.flatMap(({ users }) => mayBeListed(users, habit));
            expect(lists.map(textOf)).toContain(shown);
          }
        }
        for (const event of eventsOf('fw1', periods)) {
          if (!('key' in event) || event.kind === 'listed' || event.kind === 'unlisted') continue;
          const within = truth.filter(
            ({ since }, index) =>
              since <= event.before && (truth[index + 1]?.since ?? Infinity) >= (event.after ?? 0),
          );
          const values = within.map(({ users }) => JSON.stringify(users.get(event.key)));
          expect(new Set(values).size).toBeGreaterThan(1);
        }
      },
    ),
    runs,
  );
});

test('in a sound file the changes are exactly those between each two readings of one device, whatever the clock does', () => {
  const some = fc.oneof({ weight: 15, arbitrary: happening }, { weight: 1, arbitrary: setBack });
  fc.assert(
    fc.property(fc.array(some, { maxLength: 60 }), since, (happenings, from) => {
      const { text, kept, reads } = world(happenings);
      const { periods, damaged } = replay(text);
      expect([damaged, kept.length]).toEqual([0, reads]);
      const expected = kept.flatMap(({ reading, device }, index) => {
        const before = kept[index - 1];
        return before?.device === device ? differences(before.reading, reading) : [];
      });
      const events = eventsOf('fw1', periods);
      const moves = kept.filter(
        ({ device }, index) => index > 0 && kept[index - 1]?.device !== device,
      );
      expect(events.filter(({ kind }) => kind === 'identity')).toHaveLength(moves.length);
      const left = new Set(events.flatMap((event) => (event.kind === 'left' ? event.fields : [])));
      const count = (rows: readonly string[]): string[] =>
        rows.filter((row) => !left.has(row.split(' ')[1] ?? '')).sort();
      expect(count(events.flatMap(rowsOf))).toEqual(count(expected));
      expect(events.filter(({ kind }) => kind === 'shape')).toEqual([]);
      // The end of the file says the same of that time.
      const later = eventsOf('fw1', replay(endOf(text, from), from).periods);
      const rows = (all: readonly Event[]): string[] =>
        all.filter(({ before }) => before > from).flatMap(rowsOf);
      expect(rows(later)).toEqual(rows(events));
    }),
    runs,
  );
});

function differences(before: NewReading, after: NewReading): string[] {
  const [old, now] = [before, after].map(
    ({ records }) => new Map(records.map((one) => [one['username'], one])),
  ) as [Map<unknown, DeviceRecord>, Map<unknown, DeviceRecord>];
  const end = `${before.from} ${after.to}`;
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((key) => {
    const [one, other] = [old.get(key), now.get(key)];
    if (one === undefined) return [`${String(key)} added ${end}`];
    if (other === undefined) return [`${String(key)} gone ${end}`];
    const fields = ['lang', 'password'].filter((field) => one[field] !== other[field]);
    return fields.map((field) => `${String(key)} ${field} ${end}`);
  });
}

function rowsOf(event: Event): string[] {
  const end = `${event.after} ${event.before}`;
  if (event.kind === 'changed') {
    return event.fields.map(({ field }) => `${event.key} ${field} ${end}`);
  }
  return 'key' in event ? [`${event.key} ${event.kind} ${end}`] : [];
}
