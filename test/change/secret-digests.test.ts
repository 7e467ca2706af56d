import { randomBytes } from 'node:crypto';
import { textOf } from '../../src/output/sentences.ts';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isAsBefore } from '../../src/change/compare.ts';
import type { Change } from '../../src/change/change.ts';
import { isMaskedRequest } from '../../src/device/encode.ts';
import { type JournalEntry, journalLine, type Run } from '../../src/change/journal.ts';
import { planDevice } from '../../src/change/plan-device.ts';
import { serializePlan } from '../../src/change/plan-file.ts';
import { parseJournal } from '../../src/change/read-journal.ts';
import { curlScript } from '../../src/shell/writing/curl-script.ts';
import { markdownReport } from '../../src/shell/writing/markdown-report.ts';
import { jsonDocument, reportData, reportOf } from '../../src/change/report.ts';
import { resultText } from '../../src/change/result-file.ts';
import { sincePlan } from '../../src/change/gate.ts';
import { undoOf } from '../../src/change/undo.ts';
import { devicePlanObject, resultObject } from '../../src/output/document.ts';
import { resultLines } from '../../src/output/change-text.ts';
import { digestWith } from '../../src/device/sensitive-fields.ts';
import { genericRestProfile as profile } from '../../src/device/built-in-profiles.ts';
import type { DeviceRecord } from '../../src/device/record.ts';
import { rounds } from '../rounds.ts';
import { undoContext } from './steps.ts';

const device = { name: 'fw1', address: '10.0.0.5:443' };
const at = '2026-11-21T09:30:41.000Z';
const head = { run: 'r1', at, command: 'user set bob lang=en', by: 'ann@desk', version: '1' };
const DIGEST = /\*{3}[\w-]{12}/;

beforeEach(() => {
  const key = randomBytes(32);
  digestWith(() => key);
});
afterEach(() => {
  digestWith(() => undefined);
});

/** A record with secrets: plain, guessed, and nested. */
function recordWith([token, community, deep]: readonly string[], lang = 'de'): DeviceRecord {
  return {
    ...{ id: 7, username: 'bob', lang, token: token ?? '', snmp_community: community ?? '' },
    radius: { host: '10.0.0.9', secret: deep ?? '' },
  };
}

const SET: Change = {
  ...{ action: 'set', resource: 'user', target: { kind: 'key', key: 'bob' } },
  fields: { lang: 'en', password: 'Vf7-new-9q' },
};
const ADD: Change = { action: 'add', resource: 'user', fields: { username: 'bob', lang: 'de' } };

/** The journal of a change that the device has carried out. */
function journalOf(change: Change, before: readonly DeviceRecord[], held: DeviceRecord): string {
  const plan = { ...planDevice({ device, profile }, change, before), keyReadings: undefined };
  const ref = { device: 'fw1', index: 0 };
  const { action } = change;
  const result = { device, resource: 'user', key: 'bob', action, verdict: 'done' as const };
  const entries: JournalEntry[] = [
    { kind: 'run', ...head },
    { kind: 'device', plan },
    { kind: 'planned' },
    { kind: 'send', ref, at },
    { kind: 'verdict', ref, at, result: { ...result, record: held } },
  ];
  return entries.map((entry) => journalLine(entry)).join('');
}

function stepOf(run: Run) {
  const step = run.plan.devices[0]?.steps[0];
  if (step === undefined) throw new Error('no step');
  return step;
}

/** What reads as a path is a reference. */
const secret = fc
  .stringMatching(/^[a-zA-Z0-9+/=]{8,24}$/)
  .filter((text) => !/^\/[a-z].*\//.test(text));
const secrets = fc.array(secret, { minLength: 3, maxLength: 3 });

test('a run read from its journal sees a changed secret as drift, and an unchanged one as none', () => {
  const property = fc.property(secrets, fc.nat(2), secret, (own, place, other) => {
    fc.pre(own[place] !== other);
    const before = recordWith(own);
    const run = parseJournal(journalOf(SET, [before], recordWith(own, 'en')), 'j');
    expect(sincePlan(profile, stepOf(run), [before]).drift).toBeUndefined();
    const changed = recordWith(own.with(place, other));
    const field = ['token', 'snmp_community', 'radius'][place] ?? '';
    expect(textOf(sincePlan(profile, stepOf(run), [changed]).drift ?? '')).toContain(
      `changed since the plan (${field})`,
    );
    expect(isMaskedRequest(stepOf(run).request)).toBe(true);
  });
  fc.assert(property, { numRuns: rounds(300) });
});

test('undo of an add drifts if somebody has changed a secret of the record since', () => {
  const property = fc.property(secrets, fc.nat(2), secret, (own, place, other) => {
    fc.pre(own[place] !== other);
    const held = recordWith(own);
    const run = parseJournal(journalOf(ADD, [], held), 'j');
    const [undo] = undoOf(run, () => undoContext(profile));
    const [change] = undo?.changes ?? [];
    if (change === undefined) throw new Error('nothing to undo');
    const context = { device, profile };
    expect(planDevice(context, change, [held]).steps).toMatchObject([{ action: 'delete' }]);
    const drifted = planDevice(context, change, [recordWith(own.with(place, other))]);
    expect(drifted.settled).toMatchObject([{ verdict: 'drift' }]);
  });
  fc.assert(property, { numRuns: rounds(300) });
});

test('neither a secret nor its digest is in what a run prints, or in a file for others', () => {
  const property = fc.property(secrets, (own) => {
    const before = recordWith(own);
    const journal = journalOf(SET, [before], recordWith(own.with(0, 'Zq8+rotated'), 'en'));
    expect(journal).toMatch(DIGEST);
    const run = parseJournal(journal, 'j');
    const { devices } = run.plan;
    const results = [...run.states.values()].flat().flatMap((state) => {
      return state.kind === 'ended' ? [state.result] : [];
    });
    const reported = reportOf(run);
    const style = (_: unknown, text: string): string => text;
    const [undo] = undoOf(run, () => undoContext(profile));
    const back = planDevice({ device, profile }, undo?.changes[0] ?? SET, [before]);
    const shown = [
      JSON.stringify([...devices, back].map(devicePlanObject)),
      JSON.stringify([...results, ...back.settled].map((result) => resultObject(result))),
      ...resultLines(results, { run: 'r', devices: [...devices, back] }, style),
      markdownReport(reported) + jsonDocument(reportData(reported)),
      curlScript(head.command, { devices: [...devices, back] }, new Map()),
      serializePlan({ ...head, expiresAt: at, changes: undo?.changes ?? [] }, [back]),
      resultText(journal, at),
    ].join('\n');
    expect(shown).not.toMatch(DIGEST);
    for (const one of [...own, 'Zq8+rotated', 'Vf7-new-9q']) {
      expect(shown + journal).not.toContain(one);
    }
  });
  fc.assert(property, { numRuns: rounds(300) });
});

test('a mask of an older journal, or of another machine, can be compared with nothing', () => {
  const before = recordWith(['Tk+0192837465', 'public-8', 'shared-91']);
  const journal = journalOf(SET, [before], before);
  const changed = recordWith(['Other+92837465', 'other-8', 'other-91']);
  const older = journal.replaceAll(/\*{3}[\w-]{12}/g, '***');
  expect(sincePlan(profile, stepOf(parseJournal(older, 'j')), [changed]).drift).toBeUndefined();
  digestWith(() => randomBytes(32));
  expect(sincePlan(profile, stepOf(parseJournal(journal, 'j')), [changed]).drift).toBeUndefined();
  expect(isAsBefore('***', 'anything')).toBe(false);
});
