import { isKeyed, bothKeyAndWhere, meantBy, whereFilter } from '../arguments.ts';
import type { Change } from '../../change/change.ts';
import {
  readRecordText,
  recordText,
  withComplaint,
  withoutComplaint,
  type EditableRecord,
  type Edited,
} from '../../change/record-text.ts';
import { keyFieldOf, ownFields } from '../../device/profile.ts';
import type { DeviceRecord } from '../../device/record.ts';
import { valueText } from '../../device/value-text.ts';
import { NotFoundError, RefusedError, UsageError, type DevshError } from '../../errors.ts';
import { matches } from '../../fleet/filter.ts';
import { foldRecords, type DeviceRecords } from '../../fleet/fold.ts';
import type { Member } from '../../fleet/member.ts';
import type { Call } from '../command.ts';
import type { ShellIo } from '../session.ts';
import { type Output, warning, info } from '../output.ts';
import { writeEach } from '../writing/write.ts';
import { isKeyOf, isSingleHere } from './read-records.ts';
import type { RollOutOption, WriteOption } from '../grammar/options.ts';

type EditCall = Call<WriteOption | RollOutOption | 'on' | 'where' | 'only'>;

/** `user edit KEY…`: records as text in the user's editor, and back as a plan. */
export async function* editRecords(call: EditCall, resource: string): AsyncGenerator<Output> {
  const openEditor = call.io.edit;
  if (openEditor === undefined) {
    throw new RefusedError(
      `${resource} edit needs a terminal for the editor; in a script say "${resource} set"`,
    );
  }
  if (call.isReadOnly && !call.options.dryRun) {
    throw new RefusedError('read-only: nothing was sent');
  }
  const members = await call.members();
  const isWanted = await choiceOf(call, resource, members);
  const { reads, failed } = yield* readChosen(call, members, resource, isWanted);
  const records = editable(members, reads, resource);
  if (records.length === 0) {
    if (reads.length === 0) return;
    throw new NotFoundError(`no such ${resource} on the devices that answered`);
  }
  const edited = await editUntilRight(openEditor, records, `${resource}.yaml`);
  if (edited.removed.length > 0) {
    const names = edited.removed.map(({ key }) => key || resource).join(', ');
    const text = `not in the text any more, and left as they are: ${names} (to delete: ${resource} delete KEY)`;
    yield warning(text);
  }
  const changes = changesOf(members, reads, edited);
  if (changes.size === 0) {
    yield info('nothing was changed: there is nothing to plan');
    return;
  }
  const concerned = members.filter((member) => changes.has(member) || failed.has(member));
  const about = edited.changed.map(
    ({ of: { key } }) => ({ action: 'set', resource, key }) as const,
  );
  yield* writeEach(call, concerned, (member) => {
    const error = failed.get(member);
    // It stands in the plan as what it is: not covered.
    if (error !== undefined) return { about, changes: () => Promise.reject(error) };
    return changes.get(member) ?? [];
  });
}

type Choice = (member: Member, record: DeviceRecord) => boolean;

async function choiceOf(
  call: Call<'where' | 'only'>,
  resource: string,
  members: readonly Member[],
): Promise<Choice> {
  const keys = call.args.all('KEY');
  const isMeant = meantBy(call.options, keys, members);
  const { where } = call.options;
  if (where !== undefined && keys.length === 0) {
    const filter = whereFilter(where);
    return ({ ref }, record) => matches(filter, record, ref.name);
  }
  if (keys.length > 0 && where === undefined) {
    return (member, record) =>
      keys.some((key) => isMeant(key, member) && isKeyOf(record, member.profile, resource, key));
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
  members: readonly Member[],
  resource: string,
  isWanted: Choice,
): AsyncGenerator<Output, { reads: DeviceRecords[]; failed: ReadonlyMap<Member, DevshError> }> {
  const found = new Map<Member, readonly DeviceRecord[]>();
  const failed = new Map<Member, DevshError>();
  const reads = call.read(members, resource, {
    refine: (member, records) => {
      const wanted = records.filter((record) => isWanted(member, record));
      return member.inFull(call.access, resource, wanted, call.io.signal);
    },
  });
  for await (const one of reads) {
    if (one.ok) found.set(one.member, one.records);
    else {
      failed.set(one.member, one.error);
      yield { kind: 'error', device: one.member.ref, error: one.error };
    }
  }
  const answered = members.flatMap((member) => {
    const records = found.get(member);
    return records === undefined ? [] : [{ device: member.ref, records }];
  });
  return { reads: answered, failed };
}

function editable(
  members: readonly Member[],
  reads: readonly DeviceRecords[],
  resource: string,
): EditableRecord[] {
  const all = reads.flatMap(({ records }) => records);
  const profiles = members.map(({ profile }) => profile);
  const [first] = profiles;
  const keyField = first === undefined ? '' : keyFieldOf(first, resource, all);
  const fixed = [
    ...new Set([
      keyField,
      ...profiles.flatMap((profile) => [
        ...profile.idFields,
        ...ownFields(profile, resource),
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
    if (isEmpty) throw new RefusedError('the text was emptied: nothing was changed');
    try {
      return readRecordText(text, records, name);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      if (text === shown) {
        throw new RefusedError(
          `the text was left as it was: nothing was changed (${error.message})`,
        );
      }
      shown = withComplaint(text, error.message);
    }
  }
}

function changesOf(
  members: readonly Member[],
  reads: readonly DeviceRecords[],
  { changed }: Edited,
): Map<Member, Change[]> {
  const changes = new Map<Member, Change[]>();
  for (const { of, fields } of changed) {
    for (const member of members.filter(({ ref }) => of.devices.includes(ref.name))) {
      const records = reads.find(({ device }) => device === member.ref)?.records ?? [];
      const own = records.find((record) => isKeyOf(record, member.profile, of.resource, of.key));
      const known = Object.keys(fields).filter((field) => Object.hasOwn(own ?? {}, field));
      const change: Change = {
        action: 'set',
        resource: of.resource,
        target: { kind: 'key', key: of.key },
        fields,
        expected: Object.fromEntries(known.map((field) => [field, own?.[field] ?? null])),
      };
      changes.set(member, [...(changes.get(member) ?? []), change]);
    }
  }
  return changes;
}
