import { isKeyed, bothKeyAndWhere, keySelector, whereFilter } from '../arguments.ts';
import type { Change } from '../../change/change.ts';
import {
  readRecordText,
  recordText,
  withComplaint,
  withoutComplaint,
  type EditableRecord,
  type Edited,
} from '../../change/record-text.ts';
import { keyFieldOf, managedFields } from '../../device/profile.ts';
import { type DeviceRecord, valueText } from '../../device/record.ts';
import { NotFoundError, RefusedError, UsageError, type DevshError } from '../../errors.ts';
import { matches } from '../../fleet/filter.ts';
import { foldRecords, type DeviceRecords } from '../../fleet/fold.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import type { Call, WriteCall } from '../command.ts';
import type { ShellIo } from '../session.ts';
import { type Output, warning, info } from '../output.ts';
import { write } from '../writing/write.ts';
import type { RequestedChanges } from '../../change/read-and-plan.ts';
import { isKeyOf, isSingleHere } from './read-records.ts';

type EditCall = WriteCall & Call<'where' | 'only'>;

/** `user edit KEY…`: records as text in the user's editor, and back as a plan. */
export async function* editRecords(call: EditCall, resource: string): AsyncGenerator<Output> {
  const openEditor = call.io.edit;
  if (openEditor === undefined) {
    throw new RefusedError(
      `${resource} edit needs a terminal for the editor; in a script use "${resource} set"`,
    );
  }
  if (call.isReadOnly && !call.options.dryRun) {
    throw new RefusedError('read-only: nothing was sent');
  }
  const sessions = await call.sessions();
  const isWanted = await choiceOf(call, resource, sessions);
  const { reads, failed } = yield* readChosen(call, sessions, resource, isWanted);
  const records = editable(sessions, reads, resource);
  if (records.length === 0) {
    if (reads.length === 0) return;
    throw new NotFoundError(`no device that responded has this ${resource}`);
  }
  const edited = await editUntilRight(openEditor, records, `${resource}.yaml`);
  if (edited.removed.length > 0) {
    const names = edited.removed.map(({ key }) => key || resource).join(', ');
    const text = `removed from the text, unchanged on the device: ${names} ("${resource} delete KEY" deletes)`;
    yield warning(text);
  }
  const changes = changesOf(sessions, reads, edited);
  if (changes.size === 0) {
    yield info('nothing was changed: there is nothing to plan');
    return;
  }
  const concerned = sessions.filter((session) => changes.has(session) || failed.has(session));
  const about = edited.changed.map(
    ({ of: { key } }) => ({ action: 'set', resource, key }) as const,
  );
  const wanted = (session: DeviceSession): RequestedChanges => {
    const error = failed.get(session);
    // It stands in the plan as what it is: not covered.
    if (error !== undefined) return { about, changes: () => Promise.reject(error) };
    return changes.get(session) ?? [];
  };
  yield* write(call, { sessions: concerned, wanted, age: 'fresh' });
}

type Choice = (session: DeviceSession, record: DeviceRecord) => boolean;

async function choiceOf(
  call: Call<'where' | 'only'>,
  resource: string,
  sessions: readonly DeviceSession[],
): Promise<Choice> {
  const keys = call.args.all('KEY');
  const isSelected = keySelector(call.options, keys, sessions);
  const { where } = call.options;
  if (where !== undefined && keys.length === 0) {
    const filter = whereFilter(call.args, where);
    return ({ ref }, record) => matches(filter, record, ref.name);
  }
  if (keys.length > 0 && where === undefined) {
    return (session, record) =>
      keys.some(
        (key) => isSelected(key, session) && isKeyOf(record, session.profile, resource, key),
      );
  }
  if (keys.length === 0 && !isKeyed(resource) && (await isSingleHere(call, resource))) {
    return () => true;
  }
  const [key] = call.args.words('KEY');
  if (key !== undefined) throw bothKeyAndWhere(`${resource} edit`, key);
  throw new UsageError(`${resource} edit needs KEY…, or --where FILTER`, { column: call.args.end });
}

/** The chosen records of each device that answers, in full; the others are said. */
async function* readChosen(
  call: Call,
  sessions: readonly DeviceSession[],
  resource: string,
  isWanted: Choice,
): AsyncGenerator<
  Output,
  { reads: DeviceRecords[]; failed: ReadonlyMap<DeviceSession, DevshError> }
> {
  const found = new Map<DeviceSession, readonly DeviceRecord[]>();
  const failed = new Map<DeviceSession, DevshError>();
  const reads = call.read(sessions, resource, {
    refine: (session, records) => {
      const wanted = records.filter((record) => isWanted(session, record));
      return session.inFull(call.access, resource, wanted, call.io.signal);
    },
  });
  for await (const one of reads) {
    if (one.ok) found.set(one.session, one.records);
    else {
      failed.set(one.session, one.error);
      yield { kind: 'error', device: one.session.ref, error: one.error };
    }
  }
  const answered = sessions.flatMap((session) => {
    const records = found.get(session);
    return records === undefined ? [] : [{ device: session.ref, records }];
  });
  return { reads: answered, failed };
}

function editable(
  sessions: readonly DeviceSession[],
  reads: readonly DeviceRecords[],
  resource: string,
): EditableRecord[] {
  const all = reads.flatMap(({ records }) => records);
  const profiles = sessions.map(({ profile }) => profile);
  const [first] = profiles;
  const keyField = first === undefined ? '' : keyFieldOf(first, resource, all);
  const fixed = [
    ...new Set([
      keyField,
      ...profiles.flatMap((profile) => [
        ...profile.idFields,
        ...managedFields(profile, resource),
        ...Object.entries(profile.resources[resource]?.details ?? {}).flatMap(([field, facts]) =>
          facts.readOnly ? [field] : [],
        ),
      ]),
    ]),
  ];
  const perDevice = fixed.filter((field) => field !== keyField);
  return foldRecords(reads, keyField, perDevice).map(({ record, devices }) => ({
    resource,
    key: valueText(record[keyField]),
    devices: devices.map(({ name }) => name),
    record,
    fixed,
  }));
}

/** Opens the editor again, with what is wrong on top, until the text is right or left as it is. */
async function editUntilRight(
  openEditor: NonNullable<ShellIo['edit']>,
  records: readonly EditableRecord[],
  name: string,
): Promise<Edited> {
  let shown = recordText(records);
  for (;;) {
    const text = await openEditor({ text: shown, name });
    const isEmpty = withoutComplaint(text).trim() === '';
    if (isEmpty) throw new RefusedError('the text is empty: nothing was changed');
    try {
      return readRecordText(text, records, name);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      if (text === shown) {
        throw new RefusedError(`the text is unchanged: nothing was changed (${error.message})`);
      }
      shown = withComplaint(text, error.message);
    }
  }
}

function changesOf(
  sessions: readonly DeviceSession[],
  reads: readonly DeviceRecords[],
  { changed }: Edited,
): Map<DeviceSession, Change[]> {
  const changes = new Map<DeviceSession, Change[]>();
  for (const { of, fields } of changed) {
    for (const session of sessions.filter(({ ref }) => of.devices.includes(ref.name))) {
      const records = reads.find(({ device }) => device === session.ref)?.records ?? [];
      const own = records.find((record) => isKeyOf(record, session.profile, of.resource, of.key));
      const known = Object.keys(fields).filter((field) => Object.hasOwn(own ?? {}, field));
      const change: Change = {
        action: 'set',
        resource: of.resource,
        target: { kind: 'key', key: of.key },
        fields,
        expected: Object.fromEntries(known.map((field) => [field, own?.[field] ?? null])),
      };
      changes.set(session, [...(changes.get(session) ?? []), change]);
    }
  }
  return changes;
}
