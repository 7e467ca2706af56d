import fc from 'fast-check';
import type { Fate, Ids } from './box.ts';

/** The boxes of a world, by their place in it. */
export const NAMES = ['oslo', 'rome', 'bonn', 'riga', 'bern', 'cork'] as const;

/** A line that the operator types, always with --yes: nobody answers questions. */
export type Line =
  | { readonly kind: 'add'; readonly key: string; readonly on: readonly number[] }
  | {
      readonly kind: 'set';
      readonly key: string;
      readonly fields: Readonly<Record<string, string>>;
      readonly on: readonly number[];
    }
  | { readonly kind: 'set where'; readonly lang: string; readonly on: readonly number[] }
  | { readonly kind: 'delete'; readonly key: string; readonly on: readonly number[] }
  | { readonly kind: 'lockout'; readonly key: string }
  | {
      readonly kind: 'new name';
      readonly key: string;
      readonly to: string;
      readonly on: readonly number[];
    }
  /** Lines that send an earlier intent again. */
  | { readonly kind: 'undo' | 'resume' }
  /** The same with the id of an earlier run, the newest first. */
  | { readonly kind: 'undo RUN' | 'resume RUN'; readonly run: number }
  /** Answers the questions about the records that have this name now. */
  | { readonly kind: 'resume --also'; readonly key: string; readonly box: number }
  | { readonly kind: 'restore'; readonly key: string; readonly on: readonly number[] };

export type Event =
  | { readonly kind: 'line'; readonly line: Line }
  | { readonly kind: 'down' | 'up' | 'replace' | 'list'; readonly box: number }
  | { readonly kind: 'swap'; readonly box: number; readonly other: number }
  | { readonly kind: 'fate'; readonly box: number; readonly fate: Fate }
  | { readonly kind: 'rename'; readonly box: number; readonly key: string; readonly to: string }
  | { readonly kind: 'recreate' | 'second' | 'edit'; readonly box: number; readonly key: string }
  /** The clock of the machine steps, in minutes. */
  | { readonly kind: 'clock'; readonly minutes: number };

/** A world and what happens in it. */
export interface Sequence {
  /** How many boxes there are. */
  readonly count: number;
  readonly ids: Ids;
  /** Whether the boxes count ids from the same number. */
  readonly areIdsAlike: boolean;
  readonly events: readonly Event[];
}

const key = fc.constantFrom('ann', 'bob', 'cyd');
const box = fc.nat({ max: NAMES.length - 1 });
const on = fc.uniqueArray(box, { minLength: 1, maxLength: NAMES.length });
const fields = fc.oneof(
  fc.record({ lang: fc.constantFrom('de', 'fr', 'it') }),
  fc.record({ last_name: fc.constantFrom('Xeno', 'Young') }),
  fc.record({ lang: fc.constantFrom('de', 'fr'), last_name: fc.constantFrom('Xeno', 'Young') }),
);

const line: fc.Arbitrary<Line> = fc.oneof(
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('add' as const), key, on }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('set' as const), key, fields, on }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('set where' as const),
      lang: fc.constantFrom('en', 'de'),
      on,
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete' as const), key, on }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('lockout' as const), key }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('undo' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('new name' as const),
      ...{ key, to: fc.constantFrom('rob', 'bea'), on },
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('resume' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom('undo RUN' as const, 'resume RUN' as const),
      run: fc.nat({ max: 4 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('resume --also' as const), key, box }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('restore' as const), key, on }) },
);

const fate = fc.constantFrom<Fate>(
  'refuse',
  'lose',
  'forget',
  'store, then 500',
  'store, then die',
  'exists',
);

const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 12, arbitrary: fc.record({ kind: fc.constant('line' as const), line }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('down' as const), box }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('up' as const), box }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('list' as const), box }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('replace' as const), box }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('swap' as const), box, other: box }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('fate' as const), box, fate }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('rename' as const),
      ...{ box, key, to: fc.constantFrom('rob', 'bea') },
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('recreate' as const), box, key }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('second' as const), box, key }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('edit' as const), box, key }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('clock' as const),
      minutes: fc.constantFrom(-90, -1, 5, 600),
    }),
  },
);

export const anySequence: fc.Arbitrary<Sequence> = fc.record({
  count: fc.integer({ min: 4, max: 6 }),
  ids: fc.constantFrom<Ids>('new', 'reused'),
  areIdsAlike: fc.boolean(),
  events: fc.array(event, { minLength: 5, maxLength: 15 }),
});

const TROUBLE = ['rename', 'recreate', 'second', 'edit', 'swap', 'replace', 'clock'];

/** Nobody else writes, nothing is replaced, and no clock steps. */
export const quietSequence: fc.Arbitrary<Sequence> = anySequence.map((given) => ({
  ...given,
  events: given.events.filter(
    (one) => !TROUBLE.includes(one.kind) && !(one.kind === 'fate' && one.fate === 'exists'),
  ),
}));
