import { aOrAn, pluralOf } from '../../text/one-line.ts';
import { nearHint } from '../../text/suggest.ts';
import {
  isKeyed,
  assignments,
  bothKeyAndWhere,
  changeFields,
  fieldCandidates,
  fieldTest,
  leadingKeys,
  refuseJoined,
  keySelector,
  notAssigned,
  plainKey,
  recordKey,
  whereFilter,
} from '../arguments.ts';
import type { Change, Target } from '../../change/change.ts';
import { BodyFailure } from '../../device/errors.ts';
import { documentedProfile } from '../../device/built-in-profiles.ts';
import { type DeviceRecord, valueText } from '../../device/record.ts';
import { collectionPath, isSingle, keyFieldOf } from '../../device/profile.ts';
import { NotFoundError, RefusedError, UsageError, attempt, unlessFailed } from '../../errors.ts';
import type { Refine } from '../../fleet/fleet.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import { type Call, type CommandSpec, verb, type VerbSpec, type WriteCall } from '../command.ts';
import {
  fieldsAsked,
  filterOf,
  isSingleHere,
  readRecords,
  viewOf,
  withFields,
  withKeptColumns,
} from '../records/read-records.ts';
import { type Output, info } from '../output.ts';
import { CHANGE, DEVICES, PAST, TABLE } from '../grammar/options.ts';
import { textOf } from '../../output/sentences.ts';

export function resourceCommand(resource: string): CommandSpec {
  return {
    name: resource,
    summary: `List, add, change and delete ${pluralOf(resource)}`,
    section: 'Records',
    defaultVerb: 'list',
    verbs: [
      list(resource),
      show(resource),
      add(resource),
      set(resource),
      remove(resource),
      recordChanges(resource),
      restore(resource),
    ],
  };
}

/** Like `resourceCommand`, for a word that may be mistyped. When it runs, one GET decides, or it throws `mistake`. */
export function guessedResource(resource: string, mistake: UsageError): CommandSpec {
  const command = resourceCommand(resource);
  const verbs = command.verbs.map((verb): VerbSpec => ({
    ...verb,
    async *run(call) {
      const count = await recordsSeen(call, resource);
      if (count === undefined) throw mistake;
      if (count === 0 && verb.options.includes('yes')) {
        throw new UsageError(
          `${mistake.message}; for a resource without records: "resource ${resource} ${verb.name}"`,
          { column: mistake.column, suggestions: mistake.suggestions },
        );
      }
      yield* verb.run(call);
    },
  }));
  return { ...command, verbs };
}

/** Number of records that a selected device has under this name; undefined if it has no such resource. */
async function recordsSeen(call: Call, resource: string): Promise<number | undefined> {
  const sessions = await call.selected();
  const session = sessions.find(({ state }) => state.kind === 'ready') ?? sessions[0];
  if (session === undefined) return undefined;
  const { decodeList } = await import('../../device/network.ts');
  const counting = session.use(call.access, async (device) => {
    const path = collectionPath(device.profile, resource);
    const { status, body } = await device.raw({ method: 'GET', path }, call.io.signal);
    if (status >= 300) return undefined;
    return attempt(BodyFailure, () => decodeList(body, resource, device.profile).records.length);
  });
  return unlessFailed(counting);
}

function list(resource: string): VerbSpec {
  return verb({
    name: 'list',
    synonyms: ['ls', 'find', 'search'],
    summary: `Show ${pluralOf(resource)} of all selected devices in one table`,
    args: [
      {
        name: 'FILTER',
        summary: 'words, field=value, field!=value, field~regex; all must match ("help filters")',
        isRest: true,
        mayBeEmpty: true,
        complete: (scope) => fieldCandidates(scope, resource, 'read'),
      },
    ],
    options: [...DEVICES, 'profile', ...TABLE, 'watchMs', 'at'],
    changes: 'nothing',
    details:
      '--drift: "same" is what most devices have, "only" what one device alone has. Ids, secrets, counters and\n' +
      'times never count; --columns compares only those fields. Exit code: 8 with differences, 0 without, 3 if\n' +
      'some devices were not read (devsh claims nothing about those).\n' +
      '--against: which records are unexpected, missing or different from a file that "export" or a spreadsheet\n' +
      'wrote. Its column DEVICE names a device, @group or all ("all !fw3"); the closest counts. Only fields in\n' +
      'the file are compared. Exit codes as --drift.\n' +
      '--at: what was read then, and from when it is; no device is asked. With --drift: each device as it is now,\n' +
      'compared with itself then.\n' +
      '--watch reports new (+), removed (-) and changed (~) records with the time; with --format jsonl each\n' +
      'change is an object. It reports a failing device once and keeps asking; while none responds, less often.',
    examples: [
      `${resource} list --on 10.0.0.5,10.0.0.6`,
      `${resource} list lang=de --sort lastname`,
      `${resource} bob`,
      `${resource} list --drift`,
      `${resource} list --against expected.csv`,
      `${resource} list --count-by lang`,
      `${resource} list --at 03:00`,
      `${resource} list --drift --at 2d`,
      `${resource} list --watch=10 lang=de`,
    ],
    async *run(call) {
      const filter = filterOf(call, call.args.words('FILTER'));
      const { at, countBy } = call.options;
      if (at !== undefined) {
        const { listPast } = await import('../past/past-records.ts');
        yield* listPast(call, at, resource, filter);
        return;
      }
      if (call.options.against !== undefined) {
        const { compareBaseline } = await import('../records/compare-records.ts');
        yield* compareBaseline(call, resource, filter);
        return;
      }
      if (countBy !== undefined) {
        const { countRecords } = await import('../records/count-records.ts');
        yield* countRecords(call, resource, filter, countBy);
        return;
      }
      if (call.options.drift && call.options.watchMs !== undefined) {
        throw new UsageError('--drift compares once: leave out --watch or --drift');
      }
      if (call.options.drift) {
        const { compareDevices } = await import('../records/compare-records.ts');
        yield* compareDevices(call, resource, filter);
        return;
      }
      const view = viewOf(call, resource, 'table');
      const kept = withKeptColumns(call, await call.sessions(), view);
      const filtered = filter === undefined ? kept : { ...kept, filtered: true };
      const asked = fieldsAsked(kept, filter);
      const detailed: string[] = [];
      const refine: Refine = async (session, records) => {
        const full = await withFields(call, session, resource, records, asked);
        if (full !== records) detailed.push(`${records.length} on ${session.ref.name}`);
        return full;
      };
      const once = (): AsyncGenerator<Output> => readRecords(call, filtered, filter, refine);
      const { watchMs } = call.options;
      // The full screen repeats the request by itself and marks changes in place.
      if (watchMs === undefined || call.io.isRefreshing === true) {
        yield* once();
      } else {
        const { watched } = await import('../watch.ts');
        yield* watched(call, watchMs, once);
      }
      if (detailed.length > 0) {
        yield info(
          `the list lacks fields, so devsh read each ${resource} alone: ${detailed.join(', ')}`,
        );
      }
    },
  });
}

function show(resource: string): VerbSpec {
  return verb({
    name: 'show',
    synonyms: ['get', 'describe', 'view'],
    summary: `Show every field of one ${resource} on each device`,
    args: [{ ...recordKey(resource), isRequired: isKeyed(resource) }],
    options: [...DEVICES, 'profile', 'at'],
    changes: 'nothing',
    details:
      'On a terminal each value stands once, with its devices; in a pipe each has a block, with whole values.\n' +
      `Exit code 3: a device was not read, or its list may leave the ${resource} out.`,
    examples: [`${resource} show bob`, `${resource} show bob --at 03:00`],
    async *run(call) {
      const typed = call.args.optional('KEY');
      const wanted = typed && plainKey(call, resource, typed);
      const view = viewOf(call, resource, 'record');
      const { at } = call.options;
      if (at !== undefined) {
        const { showPast } = await import('../past/past-records.ts');
        yield* showPast(call, at, view, wanted);
        return;
      }
      const { isKeyOf } = await import('../../change/identity.ts');
      let found: number | undefined;
      const keys: string[] = [];
      const refine: Refine = async (session, records) => {
        const { profile } = session;
        if (wanted === undefined && !isSingle(profile, resource)) {
          throw new UsageError(
            `${resource} show needs KEY: a name or id, as "${resource} list" shows it`,
            { column: call.args.end },
          );
        }
        const keyField = keyFieldOf(profile, resource, records);
        const fields = [keyField, ...profile.idFields];
        const isMeant = (record: DeviceRecord): boolean =>
          wanted === undefined || isKeyOf(record, fields, wanted);
        const meantAmong = (some: readonly DeviceRecord[]): DeviceRecord[] => some.filter(isMeant);
        const matches = meantAmong(records);
        keys.push(...records.map((record) => valueText(record[keyField])));
        if (wanted !== undefined && matches.length === 0) {
          const { absenceOf } = await import('../../fleet/absence.ts');
          const listed = { session, access: call.access, resource, records };
          const absence = await absenceOf({ ...listed, signal: call.io.signal }, meantAmong);
          if (absence.kind === 'there') matches.push(absence.record);
          if (absence.kind === 'not known') {
            const { NotPossibleError, recordName } = await import('../../change/plan.ts');
            const what = `${recordName({ resource, key: wanted })} is ${textOf(absence.why)}`;
            throw new NotPossibleError(session.ref, 'not-known', what);
          }
        }
        found = (found ?? 0) + matches.length;
        return session.inFull(call.access, resource, matches, call.io.signal);
      };
      yield* readRecords(call, view, undefined, refine);
      if (found === 0 && wanted !== undefined) {
        const hint = nearHint(wanted, keys);
        throw new NotFoundError(`no ${resource} "${wanted}" on the devices that responded${hint}`);
      }
    },
  });
}

function add(resource: string): VerbSpec {
  return verb({
    name: 'add',
    synonyms: ['create', 'new'],
    summary: `Add ${aOrAn(resource)} on each selected device`,
    args: [{ ...assignments(resource), isRequired: true }],
    options: [...CHANGE],
    details:
      `If the ${resource} exists, devsh sends nothing: "unchanged", or "differs" if fields differ. It reads each\n` +
      'device back; the verdict says what it really has.\n' +
      'FIELD=VALUE gets the type that the field has on the device, FIELD:=JSON is that JSON: null, 1500, true,\n' +
      `'states:=["OK"]'. devsh sends only the fields that you name, except where a form needs all fields.`,
    examples: [`${resource} add username=bob first_name=Bob lastname=Builder lang=de`],
    async *run(call) {
      const words = call.args.words('FIELD=VALUE');
      const [first] = words;
      if (first?.text.includes('=') === false)
        throw notAssigned(first.text, first.start, keyFieldOf(documentedProfile, resource));
      refuseJoined(words, fieldTest(call, resource));
      const fields = changeFields(words);
      yield* writeOn(call, { action: 'add', resource, ...fields });
    },
  });
}

function set(resource: string): VerbSpec {
  return verb({
    name: 'set',
    synonyms: ['update', 'change', 'modify', 'edit', 'patch'],
    summary: `Change fields of ${aOrAn(resource)} on each selected device`,
    args: [recordKey(resource), assignments(resource)],
    options: [...CHANGE, 'where', 'only'],
    details:
      'Several keys before the first FIELD=VALUE are one plan with one question.\n' +
      'FIELD=VALUE gets the type that the field has on the device, FIELD:=JSON is that JSON; address.city=Ulm\n' +
      'changes one part of a nested field. null empties a field that is not text.\n' +
      'Of the account in use devsh changes only harmless fields (names, language, phone, e-mail) without\n' +
      '--allow own-account=NAME.',
    examples: [
      `${resource} set bob lang=en`,
      `${resource} set alice bob lang=en`,
      `${resource} set --where lang=de lang=en`,
      `${resource} set bob limit:=null`,
    ],
    async *run(call) {
      const words = [...call.args.words('KEY'), ...call.args.words('FIELD=VALUE')];
      const { where } = call.options;
      const [first] = words;
      const isKeyless =
        where === undefined &&
        first?.text.includes('=') === true &&
        !isKeyed(resource) &&
        (await isSingleHere(call, resource));
      if (isKeyless) {
        const fields = changeFields(words);
        yield* writeOn(call, { action: 'set', resource, target: keyTarget(''), ...fields });
        return;
      }
      const keys = where === undefined ? leadingKeys(call, resource, words) : [];
      const assigned = words.slice(keys.length);
      if (where !== undefined && first?.text.includes('=') === false) {
        throw bothKeyAndWhere(`${resource} set`, first);
      }
      if (
        first === undefined ||
        (where === undefined && first.text.includes('=') && assigned.length === 0)
      ) {
        throw new UsageError(
          `${resource} set needs KEY and field=value…, or --where FILTER and field=value…`,
          { column: first?.start ?? call.args.end },
        );
      }
      if (assigned.length === 0) {
        throw new UsageError(`${resource} set ${first.text}: which field? Write it as in lang=de`, {
          column: call.args.end,
        });
      }
      refuseJoined(assigned, fieldTest(call, resource));
      const fields = changeFields(assigned);
      yield* writeKeys(call, keys, (target) => ({ action: 'set', resource, target, ...fields }));
    },
  });
}

function remove(resource: string): VerbSpec {
  return verb({
    name: 'delete',
    synonyms: ['remove', 'rm', 'del'],
    summary: `Delete ${pluralOf(resource)} on each selected device`,
    args: [{ ...recordKey(resource), isRest: true }],
    options: [...CHANGE, 'where', 'only'],
    details:
      'Sends one DELETE for each record, never one for a collection. The plan names the fields that undo cannot\n' +
      'restore. A KEY that was there and is gone is unchanged; one that devsh never read there fails.\n' +
      'devsh refuses to delete the account in use without --allow own-account=NAME.',
    examples: [
      `${resource} delete bob`,
      `${resource} delete --where lang=xx --dry-run`,
      `${resource} delete alice bob --on fw1,fw2 --only fw2=bob`,
    ],
    async *run(call) {
      const keys = call.args.all('KEY');
      const { where } = call.options;
      if (keys.length > 0 === (where !== undefined)) {
        if (!isKeyed(resource) && (await isSingleHere(call, resource))) {
          throw new RefusedError({ code: 'single-object', resource });
        }
        const [key] = call.args.words('KEY');
        if (key !== undefined) throw bothKeyAndWhere(`${resource} delete`, key);
        throw new UsageError(`${resource} delete needs KEY…, or --where FILTER`, {
          column: call.args.end,
        });
      }
      yield* writeKeys(call, keys, (target) => ({ action: 'delete', resource, target }));
    },
  });
}

function recordChanges(resource: string): VerbSpec {
  return verb({
    name: 'changes',
    synonyms: ['history', 'log'],
    summary: `Show the history of one ${resource} on each device, as far as devsh read it`,
    args: [{ ...recordKey(resource), isRequired: isKeyed(resource) }],
    options: ['on', ...PAST],
    changes: 'nothing',
    details:
      'As "changes", for one KEY, and whether it was there at the first and the last reading.',
    examples: [`${resource} changes bob`, `${resource} changes bob --since 2d --all-fields`],
    async *run(call) {
      const past = await import('../past/list-changes.ts');
      yield* past.listRecordChanges(
        call,
        resource,
        plainKey(call, resource, call.args.optional('KEY') ?? ''),
      );
    },
  });
}

function restore(resource: string): VerbSpec {
  return verb({
    name: 'restore',
    synonyms: ['undelete'],
    summary: `Bring ${pluralOf(resource)} back to what they were at an earlier time`,
    args: [recordKey(resource), assignments(resource)],
    options: [...CHANGE, 'at', 'where', 'prune', 'also'],
    forced: 'loss',
    details:
      'devsh plans from what each device has now to what it read there at --at TIME, or last before it: adds what\n' +
      'is gone, sets what differs, deletes what is new only with --prune. Without KEY and --where, which is\n' +
      'about the records of then, it means all. devsh names what does not come back: secrets (it keeps only\n' +
      'digests), ids, fields that the device sets or that change by themselves.\n' +
      'An account without its password is added disabled, if the device has a field for that; otherwise devsh\n' +
      'asks, and --yes alone is refused without --allow loss. FIELD=VALUE, as in password=…, is for a single KEY\n' +
      'that is added again. An account that a lockout removed since needs its KEY. devsh refuses a device that it\n' +
      'did not read by then, and asks about one with another certificate or address than then. "undo" undoes it,\n' +
      'like any run.',
    examples: [
      `${resource} restore --at 03:00 --on fw3 --dry-run`,
      `${resource} restore alice bob --at 2d`,
      `${resource} restore bob password=N3w-secret --at 2d`,
      `${resource} restore --where lang=de --at 2026-11-22T03:00Z --prune`,
    ],
    async *run(call) {
      const { restoreRecords } = await import('../past/restore.ts');
      yield* restoreRecords(call, resource);
    },
  });
}

/** One plan for `--where`, or for all keys, each on every selected device unless `--only` limits it. */
async function* writeKeys(
  call: WriteCall & Call<'only' | 'where'>,
  keys: readonly string[],
  changeOf: (target: Target) => Change,
): AsyncGenerator<Output> {
  const { where } = call.options;
  if (where !== undefined) whereFilter(call.args, where);
  const { write } = await import('../writing/write.ts');
  const sessions = await call.sessions();
  const isSelected = keySelector(call.options, keys, sessions);
  const changesFor = (session: DeviceSession): Change[] =>
    where === undefined
      ? keys.filter((key) => isSelected(key, session)).map((key) => changeOf(keyTarget(key)))
      : [changeOf({ kind: 'where', filter: where })];
  const concerned = sessions.filter((session) => changesFor(session).length > 0);
  yield* write(call, { sessions: concerned, wanted: changesFor, age: 'fresh' });
}

/** Writes the same change to all devices of the line. */
async function* writeOn(call: WriteCall, change: Change): AsyncGenerator<Output> {
  // The code for writing is loaded only when something is written.
  const { write } = await import('../writing/write.ts');
  yield* write(call, { sessions: await call.sessions(), wanted: () => [change], age: 'fresh' });
}

function keyTarget(text: string): Target {
  return { kind: 'key', key: text };
}
