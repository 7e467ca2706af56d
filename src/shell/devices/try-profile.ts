import { WRITE_OF } from '../../change/doubts.ts';
import type { Action } from '../../change/verdict.ts';
import type { Credential } from '../../device/credential.ts';
import type { Device } from '../../device/device.ts';
import {
  createRequest,
  deleteRequest,
  encodeForm,
  maskedRequest,
  updateRequest,
  type WriteRequest,
} from '../../device/encode.ts';
import {
  DeviceError,
  isRefusedLogin,
  ProtocolError,
  RejectedError,
  UnreachableError,
  UntrustedError,
} from '../../device/errors.ts';
import { noteListing } from '../../device/facts.ts';
import { exampleOf, noteOwn, type OwnReading, unlistedFields } from '../../device/learn.ts';
import { findList, type Proposal, proposalsFor } from '../../device/proposals.ts';
import { type ReadPages, pagingText } from '../../device/pages.ts';
import {
  detailPath,
  fieldFacts,
  idFieldOf,
  ignoredFields,
  isNamedByKey,
  isResourceName,
  isSingle,
  keyFieldOf,
  knownFields,
  listPath,
  listRequest,
  type Origin,
  originOf,
  originOfWrite,
  type Profile,
  resourceOf,
  describedFields,
} from '../../device/profile.ts';
import { pathsElsewhere, withinParent, writePath } from '../../device/record-path.ts';
import {
  type DeviceRecord,
  type DeviceRef,
  grouped,
  jsonText,
  valueAt,
  valueText,
} from '../../device/record.ts';
import { isSecretField, maskedPath } from '../../device/sensitive-fields.ts';
import { fieldShape } from '../../device/typed-value.ts';
import { DevshError, UsageError } from '../../errors.ts';
import { type Access, withoutLogin } from '../../fleet/access.ts';
import { DeviceSession } from '../../fleet/device-session.ts';
import type { DeviceEntry } from '../../fleet/inventory.ts';
import { aOrAn, counted, someOf } from '../../text/one-line.ts';
import type { Call } from '../command.ts';
import type { DeviceOption } from '../grammar/options.ts';
import { info, type Output, table, warning } from '../output.ts';
import { describe } from './learning.ts';

type TryCall = Call<DeviceOption | 'profile'>;

/** `profile try`: reads with a profile, and shows what it means for reads and writes. Sends nothing but GET. */
export async function* tryProfile(call: TryCall): AsyncGenerator<Output> {
  const subject = await subjectOf(call);
  yield* tried(call, subject, await look(call, subject));
}

export interface Subject {
  readonly entry: DeviceEntry;
  readonly resource: string;
  /** The file with its profile, and its text. */
  readonly file?: string | undefined;
  readonly text?: string | undefined;
}

/** The device with the profile of the file, and the resource. A word that cannot be a resource is the file. */
async function subjectOf(call: TryCall): Promise<Subject> {
  const { args, shell } = call;
  const [session, ...others] = await call.resolve([args.required('DEVICE')]);
  if (session === undefined || others.length > 0) {
    throw new UsageError('"profile try" reads one device: name one', { column: args.end });
  }
  const words = [...args.words('RESOURCE'), ...args.words('FILE')];
  const [file, secondFile] = words.filter(({ text }) => !isResourceName(text));
  const [resource, second = secondFile] = words.filter(({ text }) => isResourceName(text));
  if (second !== undefined) {
    const text = `"${second.text}": name one resource and one file; a file as ./NAME or NAME.yaml`;
    throw new UsageError(text, { column: second.start });
  }
  const { profiles } = shell.services;
  let { entry } = session;
  const text = file && (await call.readText(file.text));
  if (file !== undefined) {
    entry = { ...entry, profile: await profiles.holdWith(file.text, {}, text) };
  }
  return { entry, resource: resource?.text ?? 'user', file: file?.text, text };
}

export interface Look {
  readonly device: DeviceRef;
  readonly credential: Credential | undefined;
  readonly profile: Profile;
  readonly resource: string;
  readonly listing: ReadPages | DeviceError;
  readonly listed: readonly DeviceRecord[];
  /** The listed records, one of them read in full. */
  readonly records: readonly DeviceRecord[];
  /** What a GET of the own path of one record shows. */
  readonly own: string | undefined;
  readonly example: DeviceRecord | undefined;
  /** The paths that were tried before that of the list, with their answers. */
  readonly tried: readonly string[];
  readonly hints: readonly Proposal[];
}

/** Each reading may show one more fact: where the list is, its key, its id. */
const MOST_READINGS = 4;

/**
 * Reads a resource, then again with each fact that fits better. If there is no list, tries other paths. Sends only GET.
 *
 * @param wasRefused true after a refused login: it sends no login then
 */
export async function look(call: Call, subject: Subject, wasRefused = false): Promise<Look> {
  const { entry, resource, text } = subject;
  const { profile: base = 'documented' } = entry;
  const { profiles } = call.shell.services;
  let access = wasRefused ? withoutLogin(call.access) : call.access;
  let [hints, tried]: [readonly Proposal[], readonly string[]] = [[], []];
  for (let reading = 1; ; reading += 1) {
    const profile = hints.length === 0 ? base : await profiles.holdWith(base, factsIn(hints), text);
    // A new session each time: facts that are seen with a profile on trial must not be kept.
    const session = new DeviceSession({ ...entry, profile });
    try {
      const seen = await lookWith(call, session, resource, access);
      const { listing } = seen;
      let news = seen.hints.filter(({ fact }) => !hints.some((known) => known.fact === fact));
      const answer = tried.length === 0 ? answerOf(listing, access !== call.access) : undefined;
      if (answer !== undefined) {
        const found = await session.use(access, (device) =>
          findList(device, resource, call.io.signal, access !== call.access),
        );
        tried = [`${maskedPath(listPath(seen.profile, resource))} (${answer})`, ...found.tried];
        news = foundAt(seen.profile, resource, found.path, tried);
        if (base === 'documented' && news.length > 0) news.unshift(OF_ITS_OWN);
        if (found.isOpen) access = withoutLogin(call.access);
      }
      if (news.length === 0 || reading === MOST_READINGS)
        return { ...seen, tried: [...tried, ...seen.tried], hints };
      hints = [...hints, ...news];
    } finally {
      await session.close();
    }
  }
}

const OF_ITS_OWN = { fact: 'extends', value: 'generic-rest', why: 'JSON at paths of its own' };

/** What the path answered instead of a list; undefined for an answer that does not suggest another path. */
function answerOf(listing: Look['listing'], isOpen: boolean): string | undefined {
  if (listing instanceof ProtocolError) return 'no list';
  if (listing instanceof RejectedError && listing.status === 404) return '404';
  return isOpen && isRefusedLogin(listing) ? '401' : undefined;
}

export function factsIn(hints: readonly Proposal[]): Readonly<Record<string, string>> {
  return Object.fromEntries(hints.map(({ fact, value }) => [fact, value]));
}

async function lookWith(
  { io: { signal } }: Call,
  session: DeviceSession,
  resource: string,
  access: Access,
): Promise<Look> {
  const use = <T>(work: (device: Device) => Promise<T>): Promise<T> => session.use(access, work);
  const { facts } = session;
  const listing = await use((device) => device.list(resource, signal)).catch(responseFailure);
  const isRead = !(listing instanceof Error);
  if (isRead) noteListing(facts, resource, listing);
  const { tried = [], records: listed = [], single } = isRead ? listing : {};
  const isList = single !== true && listed.length > 0;
  const before = session.profile;
  const example = isList ? exampleOf(before, resource, listed) : undefined;
  const own =
    example && (await use((device) => noteOwn({ device, facts, resource, signal }, example)));
  const { profile, credential } = session;
  const hints = isList ? proposalsFor(before, resource, listed) : [];
  const records = listed.map((record) => (record === example && own?.record) || record);
  const shownOwn = example && own && ownText(profile, resource, example, own);
  const shown = records[example ? listed.indexOf(example) : 0];
  const about = { device: session.ref, credential, profile, resource, records };
  return { ...about, listing, listed, own: shownOwn, example: shown, tried, hints };
}

function* tried(call: TryCall, { resource, file }: Subject, seen: Look): Generator<Output> {
  const { device: ref, listing, listed, hints } = seen;
  yield table('understood', ['about', 'finding', 'origin'], [...findingsOf(seen)]);
  const requests = requestsOf(seen);
  yield table('requests', ['action', 'sends', 'origin'], requests);
  for (const [note, all] of grouped(requests, ({ note }) => note ?? undefined)) {
    yield warning(`${all.map(({ action }) => action).join(', ')}: ${note}`);
  }
  if (hints.length > 0) yield table('suggestions', ['fact', 'value', 'why'], hints);
  if (hints.length > 0 && file === undefined) yield info(lineOf(ref, hints, call.options.profile));
  if (listed.length === 0) {
    const reason = listing instanceof Error ? 'no list was read' : 'the list is empty';
    const missing = 'id, key and fields, and what a change or a delete would send';
    yield warning(`${ref.name}: ${reason}. Not known of ${aOrAn(resource)}: ${missing}`);
  }
  if (listing instanceof Error) {
    if (seen.tried.length > 0) yield info(`${ref.name}: tried ${triedText(seen.tried)}`);
    yield { kind: 'error', error: listing, device: ref };
  } else yield info('nothing was written: devsh sent only GET, after its login');
}

/** `/user/, /users and 4 more (404), /rest/user (403)`: paths with the same answer stand together. */
export function triedText(tried: readonly string[]): string {
  const places = tried.map((place) => place.split(/ (.*)/s, 2));
  const answers = grouped(places, ([, answer]) => answer);
  const text = ([answer, all]: readonly [string, readonly string[][]]): string =>
    `${someOf(all.map(([path = '']) => path))} ${answer}`;
  return [...answers].map(text).join(', ');
}

/** The line that states these facts. */
export function lineOf(
  ref: DeviceRef,
  hints: readonly Pick<Proposal, 'fact' | 'value'>[],
  base?: string,
): string {
  const stated = [{ fact: 'extends', value: base }, ...hints];
  const facts = stated.flatMap(({ fact, value }) => (value ? [`${fact}=${value}`] : []));
  // Only a device of the inventory keeps its profile.
  const isKnown = ref.name !== ref.address;
  const first = isKnown ? '' : `"device add NAME ${ref.address}", then `;
  return `to state it: ${first}"profile set ${isKnown ? ref.name : 'NAME'} ${facts.join(' ')}"`;
}

/** A response without records is a finding, too; any other error ends the command. */
function responseFailure(error: unknown): DeviceError {
  const isSilent = error instanceof UnreachableError || error instanceof UntrustedError;
  if (error instanceof DeviceError && !isSilent) return error;
  throw error;
}

function loginText({ auth = {} }: Profile, credential: Credential | undefined): string {
  if (credential === undefined) return 'none';
  const { login, ...place } = auth;
  if (login === undefined || credential.kind === 'token') {
    const name = credential.headerName(place).replace(/^a/, 'A');
    return `${name}: ${credential.redact(credential.header(place))}`;
  }
  return `POST ${login.path}; then ${login.tokenIn}`;
}

/** The facts that name the place of the list, if devsh would not look there first. */
function foundAt(
  profile: Profile,
  resource: string,
  path: string | undefined,
  [first = '']: readonly string[],
): Proposal[] {
  if (path === undefined || path === listPath(profile, resource)) return [];
  const why = `${first}; the records are at ${path}`;
  const basePath = pathsElsewhere(profile, resource).get(path);
  const isBelow = listPath({ ...profile, basePath: basePath ?? '' }, resource) === path;
  return [
    ...(basePath === undefined ? [] : [{ fact: 'base_path', value: basePath, why }]),
    ...(isBelow ? [] : [{ fact: `resources.${resource}.path`, value: path, why }]),
  ];
}

type Finding = Readonly<{ about: string; finding: string; origin: Origin }>;

function* findingsOf(seen: Look): Generator<Finding> {
  const { profile, resource, credential, listing, listed, records, own } = seen;
  const found = (about: string, finding: string, fact?: string): Finding => {
    const origin = fact === undefined ? 'observed' : originOf(profile, fact);
    return { about, finding, origin };
  };
  const asked = listRequest(profile, resource);
  const path = `resources.${resource}.path`;
  const place = path in profile.origins ? path : 'list.path';
  yield found('login', loginText(profile, credential), 'auth');
  yield found('list', `${asked.method} ${maskedPath(asked.path)}`, place);
  if (listing instanceof Error) return;
  const { envelope, paging, single } = listing;
  const pages = paging === undefined ? 'on one page' : `pages ${pagingText(paging)}`;
  const list = `${counted(listed.length, 'record')} in ${envelope}, ${pages}`;
  if (seen.tried.length > 0) yield found('not at', triedText(seen.tried));
  yield found('records', single ? envelope : list);
  if (own !== undefined) yield found('one record', own);
  if (listed.length === 0) return;
  const keyField = keyFieldOf(profile, resource, records);
  if (!isSingle(profile, resource)) {
    const [idField] = records.flatMap((record) => idFieldOf(profile, record) ?? []);
    const id = idField === undefined ? 'none' : spreadOf(idField, records);
    const byKey = isNamedByKey(profile, resource) ? '; paths end with the key' : '';
    yield found('id', id + byKey, 'idFields');
    const isStated = resourceOf(profile, resource).keyField === keyField;
    const fact = isStated ? `resources.${resource}.keyField` : undefined;
    yield found('key', spreadOf(keyField, records), fact);
  }
  for (const field of knownFields(profile, resource, records)) {
    const known = fieldFacts(profile, resource, field);
    const values = records.map((record) => valueAt(record, field));
    const { kind } = fieldShape(known, values);
    const notes = [describe({ ...known, type: kind === 'unknown' ? 'type unknown' : kind })];
    if (isSecretField(field)) notes.push('secret');
    if (values.every((value) => value === undefined)) notes.push('in no record');
    const fact = `resources.${resource}.fields.${field}`;
    const isOpen = originOf(profile, fact) === 'assumed';
    yield found(`field ${field}`, notes.join(', '), isOpen ? undefined : fact);
  }
}

function ownText(
  profile: Profile,
  resource: string,
  listed: DeviceRecord,
  { record, error }: OwnReading,
): string {
  if (record === undefined) return error?.message ?? '';
  const own = withinParent(profile, resource, listed);
  const detail = { path: detailPath(profile, resource) };
  const path = maskedPath(writePath(own.profile, detail, resource, own.record));
  const more = unlistedFields(listed, record).join(', ') || 'nothing';
  return `GET ${path} shows more than the list: ${more}`;
}

/** `username, unique in all 12`. */
function spreadOf(field: string, records: readonly DeviceRecord[]): string {
  const texts = records.map((record) => valueText(record[field])).filter((text) => text !== '');
  if (records.length === 1) return `${field}, in the only record`;
  const all = texts.length === records.length ? 'all' : `${texts.length} of`;
  const isUnique = new Set(texts).size === texts.length;
  return `${field}, ${isUnique ? '' : 'not '}unique in ${all} ${records.length}`;
}

/** What an add, a change and a delete would send, with example values. Secrets are masked. */
function requestsOf({ profile, resource, records, example }: Look) {
  const keyField = keyFieldOf(profile, resource, records);
  const { parent, keyField: own } = resourceOf(profile, resource);
  // The text in front of the own key of the example names its parent.
  const above = valueText(example?.[keyField] ?? 'example/').replace(/[^/]*$/, '');
  const keys =
    parent === undefined
      ? { [keyField]: 'example' }
      : { [keyField]: `${above}example`, [own]: 'example' };
  const fixed = [...Object.keys(keys), ...profile.idFields, ...ignoredFields(profile, resource)];
  const isOpen = (field: string): boolean =>
    fieldFacts(profile, resource, field).readOnly !== true && !fixed.includes(field);
  const needed = describedFields(profile, resource).flatMap((field) => {
    const { needed: isNeeded, required, choices } = fieldFacts(profile, resource, field);
    const value = choices?.[0]?.value ?? 'example';
    return (isNeeded ?? required) === true && isOpen(field) ? [[field, value] as const] : [];
  });
  const added: DeviceRecord = { ...Object.fromEntries(needed), ...keys };
  const changed = Object.keys(example ?? {}).find((field) => {
    const { createOnly = false, choices } = fieldFacts(profile, resource, field);
    const isPlain = typeof example?.[field] === 'string' && choices === undefined;
    return isPlain && isOpen(field) && !createOnly && !isSecretField(field);
  });
  const changes = changed === undefined ? {} : { [changed]: 'example' };
  const ways: readonly (readonly [Action, (record: DeviceRecord) => WriteRequest])[] = [
    ['add', () => createRequest(profile, resource, added)],
    ['set', (record) => updateRequest(profile, resource, record, changes)],
    ['delete', (record) => deleteRequest(profile, resource, record)],
  ];
  return ways.slice(0, example === undefined ? 1 : 3).map(([action, requestFor]) => {
    const origin = originOfWrite(profile, WRITE_OF[action], resource);
    try {
      const { method, path, form, json } = maskedRequest(requestFor(example ?? added));
      const body = form === undefined ? json && jsonText(json) : encodeForm(form);
      const sends = [method, path, body].filter((part) => part !== undefined).join(' ');
      return { action, sends, origin, note: null };
    } catch (error) {
      if (!(error instanceof DevshError)) throw error;
      return { action, sends: null, origin, note: error.message };
    }
  });
}
