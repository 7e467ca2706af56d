import { type Change, changeOf, recordsWhere } from '../../change/change.ts';
import {
  canonicalId,
  type Identity,
  identityOf,
  likenessOf,
  personOf,
  type Meant,
} from '../../change/identity.ts';
import { isLockout, type Run } from '../../change/journal.ts';
import { type GoneAt, meantBy } from '../../change/lineage.ts';
import {
  explicitChanges,
  type ExplicitChange,
  maskedFields,
  type Pending,
} from '../../change/pending.ts';
import { type DevicePlan, recordName } from '../../change/plan.ts';
import type { RequestedChanges } from '../../change/read-and-plan.ts';
import type { Step } from '../../change/step.ts';
import { isAbout } from '../../change/verdict.ts';
import { idOf, keyFieldOf, type Profile } from '../../device/profile.ts';
import { onlyFields, valueText } from '../../device/record.ts';
import { DevshError, RefusedError } from '../../errors.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import { History } from '../../history/history.ts';
import { someOf } from '../../text/one-line.ts';
import { profileOf } from '../access/access.ts';
import type { WriteCall } from '../command.ts';
import type { DeviceNow } from './device-now.ts';

/* Turns what a run left to do into changes. Each says which record it means, and what that record must still hold. */

/** The changes that a run left on one device, and the address of the device now. */
export interface Left {
  readonly own: DevicePlan;
  readonly place: DeviceNow;
  readonly items: readonly Pending[];
}

function explicitOf(run: Run, { changes = [] }: DevicePlan): readonly ExplicitChange[] {
  return changes.flatMap((change) => explicitChanges(run.plan.devices, change));
}

export interface Work extends Left {
  /** The secrets that were typed, by run, field and record. */
  readonly secrets: Map<string, string>;
  readonly call: WriteCall;
  readonly run: Run;
  readonly later: readonly Run[];
  readonly session: DeviceSession;
  readonly goneAt: GoneAt;
}

/** The pending changes of one device. Throws a `RefusedError` if a secret is missing, or only its line can plan one. */
export async function olderChanges(work: Work): Promise<readonly Change[]> {
  const { call, run, own, items, session } = work;
  const profile = await profileOf(call.shell.services, session.entry);
  const explicit = explicitOf(run, own);
  const changes: Change[] = [];
  for (const item of items) {
    const { index, isSent } = item;
    const step = index === undefined ? undefined : own.steps[index];
    if (index !== undefined && step !== undefined) {
      const change = stepChange(step, meantByStep(work, profile, step), isSent);
      changes.push(await completed(work, item, change));
      continue;
    }
    const found = explicit.find((one) => isAbout(one, item));
    if (found === undefined) {
      throw new RefusedError(
        `${own.device.name}: ${item.action} ${recordName(item)} of run ${run.run} can only be planned by its line: repeat it with --on ${own.device.name}; if it changes nothing there, "pending drop ${run.run} --on ${own.device.name} --reason TEXT" (${run.command})`,
      );
    }
    const meant = await meantUnread(work, profile, found);
    changes.push(await completed(work, item, unreadChange(found.change, meant)));
  }
  return changes;
}

function aboutOf({ own, place, run, goneAt }: Work, profile: Profile, resource: string) {
  const unrecorded = { code: 'not-as-meant', is: 'old-run' } as const;
  const doubt = place.doubt ?? (run.isOlder === true ? unrecorded : undefined);
  return { device: own.device, resource, profile, goneAt, doubt };
}

/** The identity that a step means now: the one of its plan, as later runs have changed it. */
function meantByStep(work: Work, profile: Profile, step: Step): Meant {
  const { keyField, resource, before, after = {} } = step;
  const planned = identityOf(profile, keyField, before ?? after);
  const known = before === undefined ? { ...planned, id: undefined } : planned;
  const about = aboutOf(work, profile, resource);
  return { ...meantBy(work.later, about, known, Date.parse(work.run.at)), ...step.meant };
}

/** The identity that a line means on a device that it could not read, from an earlier reading or other devices. */
async function meantUnread(
  work: Work,
  profile: Profile,
  { change, key, filter, resource }: ExplicitChange,
): Promise<Meant> {
  const about = aboutOf(work, profile, resource);
  const { meant } = change;
  const since = Date.parse(work.run.at);
  const word = wordOf(profile, change, key);
  const now = (from: Identity): Meant => {
    const after = meantBy(work.later, about, from, since);
    // If no reading shows who had this id then, the person whom a later run met under it may be another one.
    const isUnseen = word.isId && Object.keys(from.person).length === 0;
    return isUnseen ? { ...after, key: from.key, person: from.person } : after;
  };
  // A change that was left over again already says whom it means.
  if (meant !== undefined) return { ...meant, ...now(meant) };
  const held = await heldBefore(work, profile, resource, word);
  const agreed =
    change.action === 'add' ? personOf(change.fields) : personOf(change.expected ?? {});
  // A lockout means a person. Any other line means the account of that name.
  const isOther =
    isLockout(work.run) && likenessOf(agreed, held?.person ?? {}, []).contradicting.length > 0;
  // An id that the user typed needs no reading.
  const said = word.isId ? canonicalId(word.text) : undefined;
  const id = isOther ? undefined : (held?.id ?? said);
  const person = isLockout(work.run) ? { ...held?.person, ...agreed } : (held?.person ?? agreed);
  const name = word.isId ? (held?.key ?? key) : word.text;
  return { ...now({ id, key: name, person }), filter };
}

/** `bob`, `id=101`, `username=bob`: the text that names the record, and whether it is an id. */
function wordOf(profile: Profile, change: Change, key: string): { text: string; isId: boolean } {
  const by = change.action !== 'add' && change.target.kind === 'key' ? change.target.by : undefined;
  const [, field, value] = /^([^=]+)=(.*)$/s.exec(key) ?? [];
  if (by !== undefined || field === undefined || value === undefined) {
    return { text: key, isId: by === 'id' };
  }
  return { text: value, isId: profile.idFields.includes(field) };
}

/** The record as the device last showed it before the run; undefined if that may have been another device. */
async function heldBefore(
  { call, run, own, place }: Work,
  profile: Profile,
  resource: string,
  { text, isId }: { readonly text: string; readonly isId: boolean },
): Promise<Identity | undefined> {
  const history = new History(await call.shell.readings());
  const past = history.stateAt(place.ref.name, resource, Date.parse(run.at));
  if (past instanceof DevshError) return undefined;
  const isSame = past.identities.every(
    ({ pin, address }) =>
      pin === own.pin || (own.pin === undefined && address === own.device.address),
  );
  const [record, second] = past.records.filter((one) =>
    isId
      ? canonicalId(idOf(profile, one) ?? '') === canonicalId(text)
      : valueText(one[past.keyField]) === text,
  );
  if (!isSame || record === undefined || second !== undefined) return undefined;
  return identityOf(profile, past.keyField, record);
}

/** @param isSent true if the request of the step may have arrived */
function stepChange(step: Step, meant: Meant, isSent: true | undefined): Change {
  const change = changeOf(step, meant);
  const sent = isSent && step;
  if (change.action !== 'set') return { ...change, sent };
  if (change.rotation) return { ...change, rotation: { ...change.rotation, isSent } };
  const { before = {}, removes = [] } = step;
  const expected = onlyFields(before, [...Object.keys(change.fields), ...removes]);
  return { ...change, sent, expected };
}

/** Reduces `expected` to the values that the change overwrites: the gate compares the person. */
function unreadChange(change: Change, meant: Meant): Change {
  if (change.action === 'add') return { ...change, meant };
  const fields = change.action === 'set' ? change.fields : {};
  const expected = onlyFields(change.expected ?? {}, Object.keys(fields));
  return { ...change, target: { kind: 'key', key: meant.key }, expected, meant };
}

/** Adds to `stray` the records that match the filter only on this device, which the run did not read or mean. */
export function withStray(
  { run, own, session }: Work,
  changes: readonly Change[],
  stray: string[],
): RequestedChanges {
  const filtered = explicitOf(run, own).filter(({ filter }) => filter !== undefined);
  const [first] = filtered;
  const filter = first?.filter;
  if (first === undefined || filter === undefined) return changes;
  const { resource, action } = first;
  const keys = filtered.map(({ key }) => key);
  return {
    about: changes.map((change) => ({ resource, action, key: change.meant?.key ?? '' })),
    changes: async (readInFull) => {
      const records = await readInFull(resource);
      const keyField = keyFieldOf(session.profile, resource, records);
      const others = recordsWhere(filter, records, session.ref.name)
        .map((record) => valueText(record[keyField]))
        .filter((key) => !keys.includes(key));
      if (others.length > 0) {
        const { name } = session.ref;
        stray.push(
          `${name}: "${filter}" also matches ${someOf(others)}, which the run did not mean; repeat its line with --on ${name} to take them`,
        );
      }
      return changes;
    },
  };
}

/** Adds the secrets, which no journal keeps: asks for each once. Throws a `RefusedError` if one is missing. */
async function completed(
  { call, run, own, secrets }: Work,
  item: Pending,
  change: Change,
): Promise<Change> {
  const { io, options } = call;
  const isForced = change.action !== 'add' && options.allow.has('drift');
  const permitted = isForced ? { ...change, expected: undefined } : change;
  if (permitted.action === 'delete') return permitted;
  let { fields } = permitted;
  for (const field of maskedFields(change)) {
    const name = `${field} of ${recordName(item)}`;
    const id = JSON.stringify([run.run, name]);
    const isAsked = typeof fields[field] === 'string' && !options.dryRun;
    const value =
      secrets.get(id) ??
      (isAsked
        ? await io.ask?.({ kind: 'secret', text: `${name}, for run ${run.run}:` })
        : undefined);
    if (value === undefined) {
      const verb = `${item.resource} ${item.action}`;
      throw new RefusedError(
        `${own.device.name}: ${name} is secret, so no journal has it: resume on a terminal, which asks for it, or repeat "${verb}" with --on ${own.device.name} and then "pending drop ${run.run}"`,
      );
    }
    secrets.set(id, value);
    fields = { ...fields, [field]: value };
  }
  return { ...permitted, fields };
}
