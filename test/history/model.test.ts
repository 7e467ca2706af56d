import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { DeviceRecord } from '../../src/device/record.ts';
import { eventsOf } from '../../src/history/events.ts';
import { Keeper } from '../../src/history/kept.ts';
import { lineText } from '../../src/history/lines.ts';
import {
  compacted,
  lastLine,
  nextLines,
  type NewReading,
  sameLine,
} from '../../src/history/next-lines.ts';
import { replay } from '../../src/history/replay.ts';

const KEY = createHash('sha256').update('test').digest();
const keeper = new Keeper(KEY);

/** What happens in the true world and to the file, in order. */
const happening = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('write' as const), user: fc.nat(3), lang: fc.nat(2) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove' as const), user: fc.nat(3) }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('read' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('late read' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('cut' as const), bytes: fc.nat(400) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('replace' as const), pin: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('compact' as const), back: fc.nat(200) }) },
);

interface TrueState {
  readonly since: number;
  readonly pin: string;
  readonly users: readonly DeviceRecord[];
}

function textOf(records: readonly DeviceRecord[]): string {
  return records
    .map((record) => JSON.stringify(Object.entries(record).sort()))
    .sort()
    .join('\n');
}

test('a state of the past is one that this very device had, and an interval has the moment of its change', () => {
  fc.assert(
    fc.property(fc.array(happening, { maxLength: 60 }), (happenings) => {
      let now = 1_000_000;
      let text = '';
      let pin = 'p0';
      let users = new Map<string, DeviceRecord>();
      const truth: TrueState[] = [{ since: 0, pin, users: [] }];
      const changed = (): void => {
        truth.push({ since: now, pin, users: [...users.values()] });
      };
      let early: NewReading | undefined;
      const reading = (from: number): NewReading => ({
        identity: { name: 'fw1', address: 'fw1:443', pin, digestKey: 'k' },
        ...{ resource: 'user', keyField: 'username', moving: [], from, to: now },
        records: [...users.values()],
      });
      const keep = (one: NewReading): void => {
        if (text !== '' && !text.endsWith('\n')) text += '\n';
        const same = sameLine(lastLine(text.slice(-4096), 'user'), one, keeper);
        text += same ? lineText(same) : (nextLines(text, one, keeper, now) ?? '');
      };
      for (const one of happenings) {
        now += 10;
        switch (one.kind) {
          case 'write': {
            const username = `u${one.user}`;
            users.set(username, { username, lang: `l${one.lang}`, password: `secret-${now}` });
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
            break;
          case 'late read':
            if (early !== undefined) keep(early);
            early = undefined;
            break;
          case 'cut':
            text = text.slice(0, Math.max(0, text.length - one.bytes));
            break;
          case 'replace':
            pin = `p${one.pin}`;
            users = new Map([...users].slice(0, 1));
            early = undefined;
            changed();
            break;
          case 'compact':
            text = compacted(text, now - one.back);
            break;
        }
      }
      const masked = (state: TrueState): string =>
        textOf(state.users.map((user) => ({ ...user, password: '***' })));
      const { lives } = replay(text);
      for (const life of lives) {
        const own = truth.filter((state) => state.pin === life.identity.pin);
        for (const { from, to, state } of life.resources.get('user')?.readings ?? []) {
          const shown = textOf([...state.values()].map(({ fields }) => fields));
          const during = own.filter(
            (one) => one.since <= to && (truth[truth.indexOf(one) + 1]?.since ?? Infinity) >= from,
          );
          expect(during.map(masked)).toContain(shown);
        }
      }
      for (const event of eventsOf('fw1', lives)) {
        if (event.kind !== 'changed' && event.kind !== 'added' && event.kind !== 'gone') continue;
        const moments = truth.filter(
          ({ since }) => since >= (event.after ?? 0) && since <= event.before,
        );
        expect(moments.length).toBeGreaterThan(0);
      }
      expect(text).not.toContain('secret-');
    }),
    { numRuns: 300 },
  );
});
