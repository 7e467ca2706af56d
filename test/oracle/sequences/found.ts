import type { Habit } from './box.ts';
import type { Event, Line, Sequence } from './events.ts';

/** A sequence over four boxes with the same ids. */
function sequence(...events: readonly (Event | Line)[]): Sequence {
  const all = events.map((one): Event => (isEvent(one) ? one : { kind: 'line', line: one }));
  return { count: 4, ids: 'new', areIdsAlike: true, isRead: false, events: all };
}

const EVENTS: readonly Event['kind'][] = [
  ...(['line', 'down', 'up', 'replace', 'list', 'swap', 'fate', 'rename', 'recreate'] as const),
  ...(['second', 'edit', 'clock'] as const),
];

function isEvent(one: Event | Line): one is Event {
  return EVENTS.some((kind) => kind === one.kind);
}

const set = (lang: string, ...on: number[]): Line => ({
  kind: 'set',
  key: 'bob',
  fields: { lang },
  on,
});
const down = (box: number): Event => ({ kind: 'down', box });
const up = (box: number): Event => ({ kind: 'up', box });

type Case = readonly [title: string, sequence: Sequence];

const withHabit = (habit: Habit, ...events: readonly (Event | Line)[]): Sequence => ({
  ...sequence(...events),
  ...{ isRead: true, habits: [habit] },
});

const withUuids = (given: Sequence): Sequence => ({ ...given, ids: 'uuid' });

/** Sequences that once showed a fault. */
export const FOUND: readonly Case[] = [
  [
    'a lockout that is pending is not lost when older work is settled',
    sequence(
      down(1),
      set('fr', 0, 1),
      down(2),
      { kind: 'lockout', key: 'bob' },
      ...[up(1), up(2)],
      { kind: 'resume RUN', run: 1 },
      down(1),
      { kind: 'resume' },
    ),
  ],
  [
    'an undo does not write to another person of the same name',
    sequence(set('fr', 0), { kind: 'recreate', box: 0, key: 'bob' }, { kind: 'undo' }),
  ],
  [
    'a filter is looked at again when what it found is settled',
    sequence(
      down(1),
      { kind: 'set where', lang: 'en', on: [0, 1] },
      { kind: 'edit', box: 1, key: 'bob' },
      up(1),
      { kind: 'resume' },
    ),
  ],
  [
    'nobody is written to whom devsh has never read',
    sequence(down(3), set('de', 3), up(3), { kind: 'resume' }),
  ],
  [
    'an address that another name has got closes no work of the box',
    sequence(
      down(1),
      set('fr', 0, 1),
      { kind: 'swap', box: 1, other: 2 },
      { kind: 'delete', key: 'bob', on: [1] },
    ),
  ],
  [
    'a newer line that found everything as it wants it replaces what is pending',
    sequence(down(1), set('fr', 0, 1), up(1), set('en', 0, 1), { kind: 'resume' }),
  ],
  [
    'a clock that goes back does not make a stranger of the own run',
    sequence(
      { kind: 'delete', key: 'ann', on: [0] },
      { kind: 'clock', minutes: -1 },
      { kind: 'undo' },
      { kind: 'clock', minutes: 5 },
      { kind: 'list', box: 0 },
      { kind: 'resume' },
    ),
  ],
  [
    'a change that a box stored before it died is ours when reading has settled it',
    sequence({ kind: 'fate', box: 0, fate: 'store, then die' }, set('fr', 0), up(0), {
      kind: 'resume',
    }),
  ],
  [
    'an add that was refused because somebody else was faster is not undone',
    sequence(
      { kind: 'delete', key: 'cyd', on: [0] },
      { kind: 'fate', box: 0, fate: 'exists' },
      { kind: 'add', key: 'cyd', on: [0] },
      { kind: 'undo' },
    ),
  ],
  [
    'a clock that goes back while a box is down does not make a stranger of the own run',
    sequence(
      { kind: 'clock', minutes: 90 },
      { kind: 'fate', box: 0, fate: 'store, then die' },
      set('fr', 0),
      { kind: 'clock', minutes: -90 },
      up(0),
      { kind: 'resume' },
      set('it', 0),
    ),
  ],
  [
    'a key that is a name on one box and an id on another means one of both',
    sequence({ kind: 'second', box: 0, key: '2' }, { kind: 'delete', key: '2', on: [0, 1] }),
  ],
  [
    'a rotation that is pending sets no password of another person',
    sequence(
      down(3),
      { kind: 'rotate password', key: 'bob', on: [0, 3] },
      { kind: 'recreate', box: 3, key: 'bob' },
      up(3),
      { kind: 'resume' },
    ),
  ],
  [
    'the undo of a delete by id adds the record again, though another one has its name',
    sequence(
      { kind: 'second', box: 0, key: 'bob' },
      { kind: 'delete id', key: 'bob', box: 0, spelling: 'plain', on: [0] },
      { kind: 'undo' },
    ),
  ],
  [
    'the undo of a run reaches what a resume has made',
    sequence(down(1), set('fr', 0, 1), up(1), { kind: 'resume' }, { kind: 'undo RUN', run: 0 }),
  ],
  [
    'a delete at an earlier time by the clock replaces an add that is pending',
    sequence(
      { kind: 'delete', key: 'cyd', on: [0, 1] },
      down(1),
      { kind: 'add', key: 'cyd', on: [0, 1] },
      up(1),
      { kind: 'clock', minutes: -60 },
      { kind: 'delete', key: 'cyd', on: [0, 1] },
      { kind: 'resume' },
    ),
  ],
  [
    'work that an undo has settled does not come back when the undo is undone',
    sequence(
      { kind: 'fate', box: 1, fate: 'store, then die' },
      { kind: 'delete', key: 'cyd', on: [0, 1] },
      up(1),
      { kind: 'undo' },
      { kind: 'fate', box: 1, fate: 'refuse' },
      { kind: 'undo' },
      up(1),
      { kind: 'resume' },
    ),
  ],
  [
    'an id in another spelling names the same record',
    withUuids(sequence({ kind: 'delete id', key: 'bob', box: 0, spelling: 'no dashes', on: [0] })),
  ],
  [
    'a restore makes no account of somebody else into that of the person who had its id',
    {
      ...sequence(
        { kind: 'recreate', box: 1, key: 'bob' },
        { kind: 'restore', key: 'bob', on: [1] },
      ),
      ...{ ids: 'reused', isRead: true },
    },
  ],
  [
    'a delete by an id that was never read does not mean whom an own rename has met there',
    {
      ...sequence(
        down(0),
        { kind: 'delete id', key: 'bob', box: 0, spelling: 'plain', on: [1, 0] },
        up(0),
        { kind: 'resume' },
        { kind: 'new name', key: 'bob', to: 'rob', on: [0] },
        { kind: 'resume' },
      ),
      ...{ ids: 'reused', areIdsAlike: false },
    },
  ],
  ...(['late', 'defers', 'caches'] as const).flatMap((habit): Case[] => [
    [
      `the undo of a delete that does not show yet does not say "unchanged": ${habit}`,
      withHabit(habit, { kind: 'delete', key: 'bob', on: [0] }, { kind: 'undo' }, { kind: 'undo' }),
    ],
  ]),
  [
    'what a neighbour of it has overwritten while it was continued stays pending',
    {
      ...sequence(
        down(1),
        { kind: 'set where', lang: 'en', on: [0, 1] },
        up(1),
        { kind: 'resume RUN', run: 0 },
        { kind: 'resume' },
      ),
      habits: [undefined, 'overwrites'],
    },
  ],
  [
    'what no answer refuses is not "failed" on a box that shows changes late',
    withHabit('caches', { kind: 'fate', box: 0, fate: 'store, then 500' }, set('fr', 0)),
  ],
  [
    'a name that has got behind the end of a list is not "unchanged"',
    withHabit(
      'cuts',
      { kind: 'recreate', box: 0, key: 'ann' },
      { kind: 'delete', key: 'ann', on: [0] },
    ),
  ],
  [
    'the record of somebody else in a response is not the one that an undo makes again',
    withHabit(
      'hides',
      { kind: 'second', box: 0, key: 'cyd' },
      { kind: 'delete', key: 'bob', on: [0] },
      { kind: 'fate', box: 0, fate: 'forget' },
      { kind: 'undo' },
    ),
  ],
  [
    'an own write to somebody else under the same id does not make it that of the person of before',
    {
      ...sequence(
        { kind: 'recreate', box: 0, key: 'bob' },
        { kind: 'rotate token', key: 'bob', on: [0] },
        { kind: 'restore', key: 'bob', on: [0] },
      ),
      ...{ ids: 'reused', isRead: true },
    },
  ],
  [
    'the undo of a delete without an effect does not take back the rename of somebody else',
    withHabit(
      'caches',
      { kind: 'rename', box: 0, key: 'bob', to: 'bea' },
      // The rename shows once the delete was sent.
      ...Array<Event>(5).fill({ kind: 'list', box: 0 }),
      { kind: 'fate', box: 0, fate: 'forget' },
      { kind: 'delete', key: 'bob', on: [0] },
      { kind: 'undo' },
    ),
  ],
  [
    'no own author is denied of what a pair shows of the first request of a continued step',
    {
      ...withHabit(
        'late',
        { kind: 'fate', box: 0, fate: 'store, then 500' },
        { kind: 'new name', key: 'cyd', to: 'bea', on: [0, 1] },
        { kind: 'resume' },
      ),
      areTwins: true,
    },
  ],
  [
    'no own author is denied of a late effect of a step that was refused when it was continued',
    {
      ...withHabit(
        'late',
        set('fr', 0),
        { kind: 'fate', box: 0, fate: 'store, then die' },
        { kind: 'delete', key: 'cyd', on: [0, 1] },
        up(0),
        { kind: 'resume' },
        ...Array<Event>(4).fill({ kind: 'list', box: 0 }),
        { kind: 'raw post', key: 'ann', on: [1] },
      ),
      ids: 'reused',
    },
  ],
  [
    'who was restored over by agreement is asked about again after its undo',
    {
      ...sequence(
        { kind: 'recreate', box: 3, key: 'bob' },
        { kind: 'restore', key: 'bob', on: [3], also: { key: 'bob', box: 3 } },
        { kind: 'undo' },
        { kind: 'restore', key: 'bob', on: [3] },
      ),
      ...({ ids: 'reused', isRead: true } as const),
    },
  ],
  [
    'a clock that goes back before a late effect shows does not make a stranger of the own run',
    {
      ...sequence(
        { kind: 'delete', key: 'cyd', on: [0, 1] },
        { kind: 'new name', key: 'bob', to: 'bea', on: [0, 1] },
        { kind: 'clock', minutes: -90 },
        { kind: 'resume' },
      ),
      habits: [undefined, 'caches'],
    },
  ],
  [
    'what a device shows late, after another one with its memory has shown it, is denied by nobody',
    {
      ...sequence(
        { kind: 'add', key: 'bea', on: [1, 0] },
        { kind: 'down', box: 1 },
        { kind: 'set', key: 'bob', fields: { last_name: 'Young' }, on: [0, 1, 2], way: 'line' },
        { kind: 'up', box: 1 },
        { kind: 'resume' },
      ),
      ...{ habits: [undefined, 'defers'], areTwins: true },
    },
  ],
  [
    'an id in a file is asked for at its own path before its record is made again',
    {
      ...sequence(
        {
          kind: 'line',
          line: { kind: 'lockout', key: 'bob' },
          isAway: true,
          stop: { at: 'journal', nth: 2, how: 'before' },
        },
        { ...set('de', 0, 1), way: 'import with ids' } as Line,
      ),
      ...{ ids: 'reused', habits: ['hides'], areTwins: true },
    },
  ],
  [
    'the new id of who was made again is denied of no device with the same memory',
    {
      ...sequence(
        down(1),
        { kind: 'delete', key: 'ann', on: [0, 1] },
        up(1),
        { kind: 'undo' },
        { kind: 'restore', key: 'bob', on: [0, 1] },
      ),
      ...{ isRead: true, areTwins: true },
    },
  ],
  [
    'a change that is settled under the new name of its account is settled',
    sequence(
      { kind: 'fate', box: 1, fate: 'lose' },
      { kind: 'new name', key: 'bob', to: 'rob', on: [1, 0] },
      down(1),
      { kind: 'set', key: 'bob', fields: { last_name: 'Young' }, on: [1, 2] },
      up(1),
      { kind: 'resume' },
    ),
  ],
  [
    'a yes to a restore over somebody else is none to an older delete',
    {
      ...sequence(
        down(0),
        { kind: 'delete', key: 'bob', on: [0, 1] },
        { kind: 'second', box: 0, key: 'bob' },
        up(0),
        { kind: 'restore', key: 'bob', on: [0], also: { key: 'bob', box: 0 } },
        { kind: 'resume' },
      ),
      ...({ ids: 'reused', isRead: true, areTwins: true } as const),
    },
  ],
  [
    'who was made again by an undo is the same person',
    withUuids({
      ...sequence(
        { kind: 'delete', key: 'bob', on: [1, 0, 3] },
        down(0),
        set('fr', 0, 1, 2, 3),
        { kind: 'undo RUN', run: 1 },
        up(0),
        { kind: 'resume' },
      ),
      ...{ isRead: true, areTwins: true },
    }),
  ],
  [
    'a restore is not for another person of the name whom a run deleted and made again',
    withUuids({
      ...sequence(
        { kind: 'recreate', box: 1, key: 'bob' },
        { kind: 'delete', key: 'bob', on: [1, 2] },
        { kind: 'undo' },
        { kind: 'restore', key: 'bob', on: [1, 0] },
      ),
      isRead: true,
    }),
  ],
];

/** The same, not mended yet: each must fail. */
export const UNMENDED: readonly Case[] = [];
