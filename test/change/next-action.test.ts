import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  nextAction,
  type RotationEvent,
  type RotationFacts,
} from '../../src/change/next-action.ts';
import { rounds } from '../rounds.ts';

type Sent = (RotationEvent & { kind: 'sent' })['outcome'];
type Tried = (RotationEvent & { kind: 'tried' })['outcome'];

const facts = fc.record({ isSent: fc.boolean(), knowsOld: fc.boolean() });
const sent = fc.constantFrom<Sent>('accepted', 'refused', 'lost', 'not sent');
const tried = fc.constantFrom<Tried>('accepted', 'refused', 'unclear');
const answers = fc.record({ sent, tries: fc.array(tried, { minLength: 12, maxLength: 12 }) });

/** Answers every action until the end. */
function play(known: RotationFacts, { sent, tries }: { sent: Sent; tries: Tried[] }) {
  const events: RotationEvent[] = [];
  const left = [...tries];
  let waitedMs = 0;
  for (;;) {
    const action = nextAction(known, events);
    if (action.kind === 'end') return { end: action, events, waitedMs };
    if (action.kind === 'send') {
      events.push({ kind: 'sent', outcome: sent });
      continue;
    }
    waitedMs += action.waitMs;
    const outcome = left.shift();
    if (outcome === undefined) throw new Error('it never ends');
    events.push({ kind: 'tried', secret: action.secret, outcome });
  }
}

const everyOrder = fc.property(facts, answers, (known, given) => {
  const { end, events, waitedMs } = play(known, given);
  const tries = events.filter((event) => event.kind === 'tried');
  const last = tries.at(-1);
  // A request goes out at most once, and the whole ends.
  expect(events.filter(({ kind }) => kind === 'sent').length).toBeLessThanOrEqual(1);
  expect(waitedMs).toBeLessThanOrEqual(15_000);
  // Only a login with the new secret makes it the current one.
  expect(end.keeps === 'new').toBe(end.verdict === 'done');
  expect(end.verdict === 'done').toBe(last?.secret === 'new' && last.outcome === 'accepted');
  // The new secret is dropped only if it certainly is not in effect.
  if (end.keeps === 'old') {
    expect(given.sent).toBe('refused');
    const opens = known.knowsOld ? 'old accepted' : 'new refused';
    expect(`${last?.secret ?? ''} ${last?.outcome ?? ''}`).toBe(opens);
  }
  // An earlier request is in doubt until a login tells.
  if (end.verdict === 'failed' && known.isSent && !known.knowsOld) expect(end.keeps).toBe('old');
  if (!known.knowsOld) expect(tries.every(({ secret }) => secret === 'new')).toBe(true);
  // One try for each secret after a lost answer.
  const after = events.slice(events.findIndex(({ kind }) => kind === 'sent') + 1);
  if (given.sent === 'lost' && events.some(({ kind }) => kind === 'sent')) {
    for (const secret of ['new', 'old']) {
      expect(
        after.filter((event) => event.kind === 'tried' && event.secret === secret).length,
      ).toBeLessThanOrEqual(1);
    }
  }
});

test('a secret is given up only when the other one opens the device, in every order of events', () => {
  fc.assert(everyOrder, { numRuns: rounds(5000) });
});

/** A device where exactly one of the two secrets works at any time, and perhaps changes later. */
test('no honest device sees three refused logins in a row', () => {
  const device = fc.record({
    isInEffect: fc.boolean(),
    changesAfter: fc.integer({ min: 0, max: 8 }),
    sent,
  });
  fc.assert(
    fc.property(facts, device, (known, { isInEffect, changesAfter, sent }) => {
      const events: RotationEvent[] = [];
      let isNew = known.isSent && isInEffect;
      let [tries, refusedInARow, most] = [0, 0, 0];
      for (;;) {
        const action = nextAction(known, events);
        if (action.kind === 'end') {
          expect(most).toBeLessThan(3);
          // It never claims the one that does not work.
          if (end(events) === 'new') expect(isNew).toBe(true);
          if (action.keeps === 'old') expect(isNew).toBe(false);
          return;
        }
        if (action.kind === 'send') {
          events.push({ kind: 'sent', outcome: sent });
          if (sent === 'accepted' && changesAfter === 0) isNew = true;
          tries = 0;
          continue;
        }
        tries += 1;
        if (events.some(({ kind }) => kind === 'sent') && sent === 'accepted')
          isNew ||= tries > changesAfter;
        const isIn = (action.secret === 'new') === isNew;
        refusedInARow = isIn ? 0 : refusedInARow + 1;
        most = Math.max(most, refusedInARow);
        events.push({
          kind: 'tried',
          secret: action.secret,
          outcome: isIn ? 'accepted' : 'refused',
        });
      }
    }),
    { numRuns: rounds(5000) },
  );
});

test('a devsh that is killed after any try begins with the other secret, so that no login is refused twice', () => {
  const secret = fc.constantFrom('new' as const, 'old' as const);
  fc.assert(
    fc.property(secret, fc.array(fc.integer({ min: 1, max: 3 })), (inEffect, kills) => {
      let lastTried: RotationFacts['lastTried'];
      let refusedInARow = 0;
      for (const triesUntilKill of kills) {
        const events: RotationEvent[] = [];
        for (let tries = 0; tries < triesUntilKill; tries += 1) {
          const action = nextAction({ isSent: true, knowsOld: true, lastTried }, events);
          if (action.kind !== 'try') break;
          const outcome = action.secret === inEffect ? 'accepted' : 'refused';
          refusedInARow = outcome === 'refused' ? refusedInARow + 1 : 0;
          expect(refusedInARow).toBeLessThan(2);
          events.push({ kind: 'tried', secret: action.secret, outcome });
        }
        const last = events.at(-1);
        if (last?.kind === 'tried') lastTried = last.secret;
      }
    }),
  );
});

function end(events: readonly RotationEvent[]): string {
  const last = events.at(-1);
  return last?.kind === 'tried' && last.outcome === 'accepted' ? last.secret : '';
}
