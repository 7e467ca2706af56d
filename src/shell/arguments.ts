import {
  configuredSingle,
  isSingle,
  keyFieldOf,
  type Profile,
  describedFields,
  fieldFacts,
} from '../device/profile.ts';
import { type DeviceRecord, isNested, jsonText, type Value, valueText } from '../device/record.ts';
import { JsonFailure, parseJson } from '../device/json.ts';
import { oneLine } from '../text/one-line.ts';
import { UsageError } from '../errors.ts';
import type { ArgSpec, Call, CompletionScope } from './command.ts';
import { hasUnsafe, jsonEscape, replaceUnsafe } from '../text/visible.ts';
import {
  type Arguments,
  isAssignable,
  quoteAssignment,
  quoteWord,
  type Word,
} from '../text/words.ts';
import type { Candidate } from './grammar/option.ts';
import { documentedProfile } from '../device/built-in-profiles.ts';
import { isSecretName } from '../device/sensitive-fields.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { everSeenFields, seenFields, seenKeys, seenValues } from './seen-devices.ts';
import { type Filter, parseChoice } from '../fleet/filter.ts';
import type { DeviceSession } from '../fleet/device-session.ts';
import type { OptionKey, Options } from './grammar/options.ts';

/** `TARGET…`: devices by name, address, range, network or group. */
export const TARGETS: ArgSpec = {
  name: 'TARGET',
  summary: 'name, address, host:port, 10.0.0.[5-9], 10.0.0.0/29, @group, !but-not',
  isRest: true,
  complete: (scope) => scope.targets,
};

export const SOME_TARGETS: ArgSpec = { ...TARGETS, isRequired: true };

export function oneDevice(name: string, summary: string): ArgSpec {
  const complete: ArgSpec['complete'] = ({ targets }) =>
    targets.filter(({ text }) => !text.startsWith('@'));
  return { name, summary, isRequired: true, complete };
}

/** The devices of this session, or `all`. */
export const CONNECTED: ArgSpec = {
  name: 'SELECTOR',
  summary: 'which of the connected devices (names, @group, !but-not, all)',
  isRest: true,
  complete: ({ fleet }) => [
    ...fleet.connected.map(({ ref }) => ({ text: ref.name, summary: ref.address })),
    { text: 'all', summary: 'all connected devices' },
  ],
};

/** Parses `field=value` words. Each field may occur once. */
export function fieldsOf(words: readonly Word[]): DeviceRecord {
  // A map, not an object: in an object, "__proto__" would not become a field.
  const fields = new Map<string, Value>();
  for (const { text, start } of words) {
    const at = text.indexOf('=');
    if (at < 1) throw notAssigned(text, start);
    const field = text.slice(0, at);
    if (fields.has(field)) {
      throw new UsageError(`${oneLine(field)} is given twice: leave one of them out`, {
        column: start,
      });
    }
    fields.set(field, text.slice(at + 1));
  }
  return Object.fromEntries(fields);
}

/** Parses `field=value` and `field:=JSON` words: the fields of a new record, or the changes of an existing one. */
export function changeFields(words: readonly Word[]): {
  fields: DeviceRecord;
  asJson: string[] | undefined;
} {
  const asJson: string[] = [];
  const plain = words.map((word): Word => {
    const [, field, json] = /^([^=]+):=(.*)$/s.exec(word.text) ?? [];
    if (field === undefined || json === undefined) return word;
    asJson.push(field);
    return { ...word, text: `${field}=${json}` };
  });
  const said = Object.entries(fieldsOf(plain));
  const fields = said.map(([field, text], index): [string, Value] =>
    asJson.includes(field) ? [field, jsonOf(valueText(text), plain[index])] : [field, text],
  );
  return { fields: Object.fromEntries(fields), asJson: asJson.length > 0 ? asJson : undefined };
}

/** The word that `changeFields` reads as this value; undefined for a field whose name no word can have. */
export function assignmentWord(field: string, value: Value): string | undefined {
  if (!isAssignable(field) || hasUnsafe(field)) return undefined;
  const text = valueText(value);
  if (value !== null && !isNested(value) && !hasUnsafe(text)) return quoteAssignment(field, text);
  return quoteWord(`${field}:=${replaceUnsafe(jsonText(value), jsonEscape)}`);
}

function jsonOf(text: string, word: Word | undefined): Value {
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof JsonFailure)) throw error;
    throw new UsageError(`:= takes JSON, as in mtu:=1500 or 'states:=["OK"]': ${error.message}`, {
      column: word?.start,
    });
  }
}

/** @param likely the field whose value `text` probably is */
export function notAssigned(text: string, column: number, likely?: string): UsageError {
  const field = text === likely ? undefined : likely;
  const [, name, value] = /^([\p{L}_][\p{L}\p{N}_.-]*):([^:=/].*)$/su.exec(text) ?? [];
  if (name !== undefined && value !== undefined && !isSecretName(name)) {
    const meant = quoteAssignment(name, value);
    return new UsageError(
      `"${oneLine(text)}" is not field=value: write it as in ${oneLine(meant)}`,
      { column, suggestions: [meant] },
    );
  }
  const says = text.startsWith('=') ? 'names no field' : 'is not field=value';
  const example = field === undefined ? 'lang=de' : quoteAssignment(field, text);
  return new UsageError(`"${oneLine(text)}" ${says}: write it as in ${oneLine(example)}`, {
    column,
    suggestions: field === undefined ? [] : [example],
  });
}

/** The profile of the first selected device stands for the whole selection. */
export function selectionProfile(fleet: Fleet): Profile {
  return fleet.selection[0]?.profile ?? documentedProfile;
}

/** `KEY`: one record, by natural key or id. */
export function recordKey(resource: string): ArgSpec {
  return {
    name: 'KEY',
    summary: `${keyFieldOf(documentedProfile, resource)} or id, or id=… / ${keyFieldOf(documentedProfile, resource)}=…`,
    complete: (scope) => {
      const { fleet, devices, given } = scope;
      // A single object has no key: its fields come first.
      if (isSingle(selectionProfile(fleet), resource)) return fieldCandidates(scope, resource);
      const seen = fleet.selection.flatMap((session) => session.cached(resource) ?? []);
      const keyField = keyFieldOf(selectionProfile(fleet), resource, seen);
      return seenKeys(devices, resource, keyField).filter(({ text }) => !given.includes(text));
    },
  };
}

/** The KEY of a verb that reads, or concerns all devices: `bob` of `username=bob`, `1c…` of `uuid=1c…`. */
export function plainKey({ shell }: Call, resource: string, text: string): string {
  const profile = selectionProfile(shell.fleet);
  const [, field = '', value = ''] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
  const isKey = [profile, documentedProfile].some(
    (one) => keyFieldOf(one, resource) === field || one.idFields.includes(field),
  );
  return isKey ? value : text;
}

/** `FIELD=VALUE…`, completed with the known fields and choices. */
export function assignments(resource: string): ArgSpec {
  return {
    name: 'FIELD=VALUE',
    summary: 'a field and its new value, as in lang=de',
    isRest: true,
    complete: (scope) => fieldCandidates(scope, resource),
  };
}

/** Completes fields that are not given yet, and values behind `=`. `write` leaves out ids and read-only fields. */
export function fieldCandidates(
  scope: CompletionScope,
  resource: string,
  purpose: 'read' | 'write' = 'write',
): Candidate[] {
  const profile = selectionProfile(scope.fleet);
  const [, field] = /^([^=]+)=/.exec(scope.typed) ?? [];
  if (field !== undefined) {
    if (isSecretName(field)) return [];
    const { choices = [] } = fieldFacts(profile, resource, field);
    return [
      ...choices.map(({ value, label }) => ({ text: `${field}=${value}`, summary: label })),
      ...seenValues(scope.devices, resource, field).map((value) => ({ text: `${field}=${value}` })),
    ];
  }
  const isWritable = (name: string): boolean =>
    !profile.idFields.includes(name) && fieldFacts(profile, resource, name).readOnly !== true;
  const seen = everSeenFields(scope.devices, resource);
  return [...new Set([...describedFields(profile, resource), ...seen])]
    .filter((name) => purpose === 'read' || isWritable(name))
    .filter((name) => !scope.given.some((word) => word.startsWith(`${name}=`)))
    .map((name) => {
      const { type, required } = fieldFacts(profile, resource, name);
      const summary = type && `${type}${required === true ? ', required' : ''}`;
      return { text: `${name}=`, continues: true, summary };
    });
}

/** Throws a `UsageError` with the column of the value in the line, not in the filter. */
export function whereFilter(args: Arguments<OptionKey>, text: string): Filter {
  const column = args.columnOf('where');
  if (text.trim() === '') {
    throw new UsageError('--where needs a filter: --where lang=de', { column });
  }
  try {
    return parseChoice(text);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const { message, suggestions } = error;
    throw new UsageError(`--where: ${message}`, { column, suggestions });
  }
}

export function bothKeyAndWhere(title: string, key: Word): UsageError {
  return new UsageError(
    `${title} takes KEY or --where, not both: leave out "${oneLine(key.text)}" or --where`,
    { column: key.start },
  );
}

/** Whether a KEY counts on a device, by `--only`. Throws a `UsageError` if `--only` names another KEY or device. */
export function keySelector(
  { only }: Options<'only'>,
  keys: readonly string[],
  sessions: readonly DeviceSession[],
): (key: string, session: DeviceSession) => boolean {
  if (only.length === 0) return () => true;
  const devicesByKey = new Map<string, Set<DeviceSession>>();
  for (const { key, devices } of only) {
    if (!keys.includes(key))
      throw new UsageError(`--only is about a KEY of the line, not "${key}"`);
    const named = devicesByKey.get(key) ?? new Set();
    for (const device of devices) named.add(sessionNamed(device, sessions));
    devicesByKey.set(key, named);
  }
  return (key, session) => devicesByKey.get(key)?.has(session) !== false;
}

function sessionNamed(device: string, sessions: readonly DeviceSession[]): DeviceSession {
  const session = sessions.find(({ ref }) => ref.name === device || ref.address === device);
  if (session !== undefined) return session;
  const names = sessions.map(({ ref }) => ref.name).join(', ');
  throw new UsageError(`--only: "${device}" is none of the selected devices (${names})`);
}

/** Whether the records of a resource have keys, as far as known before a request. */
export function isKeyed(resource: string): boolean {
  return configuredSingle(documentedProfile, resource) === false;
}

/** The keys before FIELD=VALUE. Throws UsageError for a field without `=`: `set bob lastname Smith lang=de`. */
export function leadingKeys(call: Call, resource: string, words: readonly Word[]): string[] {
  const rest = words.slice(1);
  const at = rest.findIndex(({ text }) => text.includes('='));
  const more = at === -1 ? rest : rest.slice(0, at);
  const isField = fieldTest(call, resource);
  for (const { text, start } of more) {
    if (at !== -1 && !isField(text)) continue;
    const pair = more.length === 2 ? quoteAssignment(text, more[1]?.text ?? '') : undefined;
    if (pair === undefined || isSecretName(text)) throw notAssigned(text, start, undefined);
    throw new UsageError(`"${oneLine(text)}" is not field=value: write it as in ${oneLine(pair)}`, {
      column: start,
    });
  }
  return [...words.slice(0, 1), ...more].map(({ text }) => text);
}

export function fieldTest(call: Call, resource: string): (text: string) => boolean {
  const { fleet } = call.shell;
  return (text) =>
    seenFields(fleet.connected, resource).includes(text) ||
    describedFields(selectionProfile(fleet), resource).includes(text) ||
    isSecretName(text);
}

/** Throws a `UsageError` for fields with a comma or & between them: `username=bob,lang=de`, `username=bob, lang=de`. */
export function refuseJoined(words: readonly Word[], isField: (text: string) => boolean): void {
  for (const [at, { text, start }] of words.entries()) {
    const [, ended] = /^([\w.-]+)=[^,]+,$/.exec(text) ?? [];
    if (ended !== undefined && at + 1 < words.length) {
      throw new UsageError(
        `the value of ${ended} ends with a comma: put a blank between fields, no comma`,
        { column: start },
      );
    }
    const [, field = '', next = ''] = /^([\w.-]+)=[^=,&]*[,&]([\w.-]+)=/.exec(text) ?? [];
    if (next !== '' && isField(next)) {
      throw new UsageError(
        `the value of ${field} contains ${next}=: put a blank between fields, as in ${field}=… ${next}=…`,
        { column: start },
      );
    }
  }
}
