import fc from 'fast-check';
import { type Fate, type Habit, HABITS, type Ids, type Spelling } from './box.ts';

/** The boxes of a world, by their place in it. */
export const NAMES = ['oslo', 'rome', 'bonn', 'riga', 'bern', 'cork'] as const;

type Fields = Readonly<Record<string, string>>;

/** How a set is typed: as a line, as a change set from standard input, or as a row of a file. */
export type Way = 'line' | 'change set' | 'import' | 'import with ids';

type On = readonly number[];

/** A line that the operator types, always with --yes: nobody answers questions. */
export type Line =
  | {
      readonly kind: 'add' | 'delete' | 'rotate password' | 'rotate token' | 'raw post';
      readonly key: string;
      readonly on: On;
    }
  /** `plan` writes the plan of a set to a file, and `apply` applies the newest one. */
  | {
      readonly kind: 'set' | 'plan';
      readonly key: string;
      readonly fields: Fields;
      readonly on: On;
      readonly way?: Way | undefined;
    }
  | { readonly kind: 'apply' }
  | { readonly kind: 'set where'; readonly lang: string; readonly on: On }
  | { readonly kind: 'lockout'; readonly key: string }
  | { readonly kind: 'new name'; readonly key: string; readonly to: string; readonly on: On }
  /** A record by the id that the account of this name has on one box, in some spelling. */
  | {
      readonly kind: 'set id' | 'delete id' | 'raw delete';
      readonly key: string;
      readonly box: number;
      readonly spelling: Spelling;
      readonly on: On;
    }
  /** Lines that send an earlier intent again; `also` answers the questions about a name on a box. */
  | { readonly kind: 'undo' | 'resume'; readonly also?: Also | undefined }
  /** With the id of an earlier run, the newest first. */
  | {
      readonly kind: 'undo RUN' | 'resume RUN' | 'drop';
      readonly run: number;
      readonly also?: Also | undefined;
    }
  | {
      readonly kind: 'restore';
      readonly key: string;
      readonly on: On;
      readonly also?: Also | undefined;
    };

/** The answer to the questions about the record that has this name now. */
export interface Also {
  readonly key: string;
  readonly box: number;
}

/** The process ends at the journal line or the write request of this number, as if it was killed. */
export interface Stop {
  readonly at: 'journal' | 'request';
  readonly nth: number;
  /** Whether the line is written, or the request carried out, before that; `half` of a line may be. */
  readonly how: 'before' | 'half' | 'after';
}

/** What happens before the request of this number is answered; a line comes from a second devsh. */
export interface Meanwhile {
  readonly nth: number;
  readonly event: Event;
}

export type Event =
  | {
      readonly kind: 'line';
      readonly line: Line;
      /** Typed on another machine. */
      readonly isAway?: boolean | undefined;
      readonly stop?: Stop | undefined;
      readonly meanwhile?: Meanwhile | undefined;
    }
  | { readonly kind: 'down' | 'up' | 'replace' | 'list'; readonly box: number }
  /** Its place gets another name in the inventory. */
  | { readonly kind: 'rename device'; readonly box: number }
  | { readonly kind: 'swap'; readonly box: number; readonly other: number }
  | { readonly kind: 'fate'; readonly box: number; readonly fate: Fate }
  | { readonly kind: 'rename'; readonly box: number; readonly key: string; readonly to: string }
  | { readonly kind: 'recreate' | 'second' | 'edit'; readonly box: number; readonly key: string }
  /** A clock steps, in minutes: that of a box, or that of the machine. */
  | { readonly kind: 'clock'; readonly minutes: number; readonly box?: number | undefined };

/** A world and what happens in it. */
export interface Sequence {
  /** How many boxes there are. */
  readonly count: number;
  readonly ids: Ids;
  /** Whether the boxes count ids from the same number. */
  readonly areIdsAlike: boolean;
  /** Whether all boxes are read at first. */
  readonly isRead: boolean;
  /** Of the boxes, by their place; none: as expected. */
  readonly habits?: readonly (Habit | undefined)[];
  /** Whether the first two boxes have one memory. */
  readonly areTwins?: boolean;
  readonly events: readonly Event[];
}

/** One of these, each as often as its number says. */
function mix<T>(...rows: readonly (readonly [weight: number, arbitrary: fc.Arbitrary<T>])[]) {
  return fc.oneof(...rows.map(([weight, arbitrary]) => ({ weight, arbitrary })));
}

function kinds<K extends string>(...names: K[]): fc.Arbitrary<K> {
  return fc.constantFrom<K>(...names);
}

// Most of it is about bob on the first boxes, so that lines meet each other's records.
const key = fc.constantFrom('bob', 'bob', 'ann', 'bob', 'cyd');
const to = fc.constantFrom('rob', 'bea');
const box = mix([2, fc.nat({ max: 1 })], [1, fc.nat({ max: NAMES.length - 1 })]);
const on = fc.uniqueArray(box, { minLength: 1, maxLength: NAMES.length });
const lang = { lang: fc.constantFrom('de', 'fr', 'it') };
const last = { last_name: fc.constantFrom('York', 'Young') };
const fields = fc.oneof(fc.record(lang), fc.record(last), fc.record({ ...lang, ...last }));
const run = fc.nat({ max: 4 });
const also = fc.option(fc.record({ key: fc.oneof(key, to), box }), { nil: undefined, freq: 4 });
const way = mix<Way>(
  [5, fc.constant('line')],
  [3, kinds('change set', 'import', 'import with ids')],
);
const spelling = kinds<Spelling>('plain', 'capitals', 'no dashes', 'percent');

const line: fc.Arbitrary<Line> = mix<Line>(
  [2, fc.record({ kind: kinds('add'), key: mix([2, to], [1, key]), on })],
  [6, fc.record({ kind: kinds('set', 'set', 'set', 'set', 'set', 'plan'), key, fields, on, way })],
  [1, fc.record({ kind: kinds('set where'), lang: fc.constantFrom('en', 'de'), on })],
  [3, fc.record({ kind: kinds('delete', 'delete', 'raw post'), key, on })],
  [1, fc.record({ kind: kinds('lockout'), key })],
  [1, fc.record({ kind: kinds('rotate password', 'rotate token'), key, on })],
  [1, fc.record({ kind: kinds('new name'), key, to, on })],
  [1, fc.record({ kind: kinds('set id', 'delete id', 'raw delete'), key, box, spelling, on })],
  [1, fc.record({ kind: kinds('apply') })],
  [3, fc.record({ kind: kinds('undo'), also })],
  [4, fc.record({ kind: kinds('resume'), also })],
  [2, fc.record({ kind: kinds('undo RUN', 'resume RUN'), run, also })],
  [1, fc.record({ kind: kinds('drop'), run })],
  [2, fc.record({ kind: kinds('restore'), key, on, also })],
);

const fate = kinds<Fate>(
  'refuse',
  'lose',
  'forget',
  'store, then 500',
  'store, then die',
  'exists',
  'outdone',
  'outdone',
);

const minutes = fc.constantFrom(-90, -1, 5, 600);

/** What others do, and what befalls a box. */
const incident: fc.Arbitrary<Event> = mix<Event>(
  [3, fc.record({ kind: kinds('down', 'up'), box })],
  [2, fc.record({ kind: kinds('fate'), box, fate })],
  [2, fc.record({ kind: kinds('rename'), box, key, to })],
  [4, fc.record({ kind: kinds('recreate', 'second', 'edit'), box, key })],
);

const nth = fc.nat({ max: 8 });
const isAway = fc.nat({ max: 5 }).map((number) => number === 0);
const stop = fc.record({
  at: kinds('journal', 'request'),
  nth: fc.nat({ max: 5 }),
  how: kinds('before', 'half', 'after'),
});
const second = fc.record({ kind: kinds('line'), line, isAway: fc.boolean() });
const meanwhile = fc.record({ nth, event: fc.oneof(incident, second) });

const event: fc.Arbitrary<Event> = mix<Event>(
  [12, fc.record({ kind: kinds('line'), line, isAway })],
  [1, fc.record({ kind: kinds('line'), line, isAway, stop })],
  [2, fc.record({ kind: kinds('line'), line, isAway, meanwhile })],
  [11, incident],
  [1, fc.record({ kind: kinds('list', 'replace', 'up', 'up'), box })],
  [1, fc.record({ kind: kinds('swap'), box, other: box })],
  [1, fc.record({ kind: kinds('clock'), minutes, box: fc.option(box, { nil: undefined }) })],
);

/** A box is down during a line, and what is pending there is done later. */
const absence = fc
  .record({ box, line, meanwhile: fc.option(incident), old: kinds('resume', 'resume RUN') })
  .map(({ box, line, meanwhile, old }): Event[] => [
    { kind: 'down', box },
    { kind: 'line', line },
    ...(meanwhile === null ? [] : [meanwhile]),
    { kind: 'up', box },
    { kind: 'line', line: old === 'resume' ? { kind: old } : { kind: old, run: 0 } },
  ]);

/** A line is sent again after its record has changed; `also` says that it is the one. */
const trouble = fc
  .record({
    ...{ box, key, to, line, isAnswered: fc.boolean(), isDown: fc.boolean() },
    what: kinds('rename', 'recreate', 'second', 'edit'),
    old: kinds('undo', 'resume', 'undo', 'restore'),
  })
  .map(({ box, key, to, line, isAnswered, isDown, what, old }): Event[] => {
    const also = isAnswered ? { key: what === 'rename' ? to : key, box } : undefined;
    return [
      ...(isDown ? [{ kind: 'down' as const, box }] : []),
      { kind: 'line', line },
      what === 'rename' ? { kind: what, box, key, to } : { kind: what, box, key },
      ...(isDown ? [{ kind: 'up' as const, box }] : []),
      {
        kind: 'line',
        line: old === 'restore' ? { kind: old, key, on: [box], also } : { kind: old, also },
      },
    ];
  });

/** A box does not simply carry out a write, which is then sent again or undone. */
const mishap = fc
  .record({ box, line, fate, old: kinds('undo', 'resume') })
  .map(({ box, line, fate, old }): Event[] => [
    { kind: 'fate', box, fate },
    { kind: 'line', line },
    { kind: 'up', box },
    { kind: 'line', line: { kind: old } },
  ]);

const events = fc
  .array(mix<Event[]>([8, event.map((one) => [one])], [2, absence], [2, trouble], [2, mishap]), {
    ...{ minLength: 3, maxLength: 10 },
  })
  .map((parts) => parts.flat().slice(0, 15));

export const anySequence: fc.Arbitrary<Sequence> = fc.record({
  count: fc.integer({ min: 4, max: 6 }),
  ids: kinds<Ids>('new', 'reused', 'uuid'),
  areIdsAlike: fc.boolean(),
  isRead: fc.boolean(),
  habits: fc.array(fc.option(fc.constantFrom(...HABITS), { nil: undefined, freq: 2 }), {
    ...{ minLength: 2, maxLength: 4 },
  }),
  areTwins: fc.nat({ max: 5 }).map((number) => number === 0),
  events,
});

const TROUBLE = [
  'rename device',
  'rename',
  'recreate',
  'second',
  'edit',
  'swap',
  'replace',
  'clock',
];

/** Nobody else writes, nothing is replaced, nothing is stopped, and no clock steps. */
export const quietSequence: fc.Arbitrary<Sequence> = anySequence.map((given) => ({
  ...given,
  ...{ habits: [], areTwins: false },
  events: given.events.flatMap((one): Event[] => {
    if (one.kind === 'line') {
      const isRaw = one.line.kind.startsWith('raw');
      return isRaw || one.isAway === true ? [] : [{ kind: 'line', line: one.line }];
    }
    const isTrouble =
      TROUBLE.includes(one.kind) ||
      (one.kind === 'fate' && ['exists', 'outdone'].includes(one.fate));
    return isTrouble ? [] : [one];
  }),
}));
