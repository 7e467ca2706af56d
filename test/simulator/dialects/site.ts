import type { Api } from '../../../src/simulator/api.ts';
import { SimulatorError } from '../../../src/simulator/simulator.ts';
import type { DeviceRecord } from '../../../src/device/record.ts';
import type { Account } from '../../../src/simulator/store.ts';
import type { ApiRequest, Outcome, View } from '../../../src/simulator/view.ts';
import type { DialectStore, NumberedTable, StoredRecord } from './dialect-store.ts';
import type { Resource } from './resources.ts';

/** The simulated families of devices: the built-in profiles. */
export const PROFILE_NAMES = ['documented', 'drf', 'generic-rest', 'form-action'] as const;
export type ProfileName = (typeof PROFILE_NAMES)[number];

/** How a device speaks. A test wraps these functions; they reach each other by the site alone. */
export interface Dialect {
  readonly profile: ProfileName;
  readonly traits: Traits;
  /** In the order of `GET /api/`. */
  readonly resources: readonly Resource[];
  /** A record as the device sends it. */
  readonly shown: (target: ResourceTable, record: StoredRecord) => DeviceRecord;
  /** The record with the id in a path. */
  readonly find: (target: ResourceTable, id: string) => StoredRecord | undefined;
  /** Undefined for an unknown path. */
  readonly findView: (site: Site, path: string) => View | undefined;
  /** The account of a request, or the message of the 401. */
  readonly login: (site: Site, request: ApiRequest) => Account | string;
  /** Writes a refusal as the device does. */
  readonly refuse: (request: ApiRequest, outcome: Outcome) => Outcome;
}

export interface Traits {
  /** The field with the id of a record, which paths hold; undefined: only its key. */
  readonly id: 'uuid' | 'id' | undefined;
  readonly endsWithSlash: boolean;
  readonly hasOptions: boolean;
  /** The accepted formats of a body. */
  readonly encodings: readonly ('json' | 'form')[];
  /** Whether texts are trimmed, like in Django. */
  readonly trims: boolean;
  /** Whether a PUT empties the fields that it lacks. */
  readonly replaces: boolean;
}

export interface Site {
  readonly store: DialectStore;
  readonly dialect: Dialect;
}

/** A resource of a device, with its records. */
export interface ResourceTable {
  readonly site: Site;
  readonly resource: Resource;
  readonly table: NumberedTable;
}

/** Returns undefined if the device has no such resource. */
export function tableOf(site: Site, name: string): ResourceTable | undefined {
  const resource = site.dialect.resources.find((known) => known.name === name);
  const table = site.store.table(name);
  return resource === undefined || table === undefined ? undefined : { site, resource, table };
}

/** All records of a resource as the device sends them. */
export function shownRecords(target: ResourceTable): DeviceRecord[] {
  return target.table.records.map((record) => target.site.dialect.shown(target, record));
}

/** The API of a device that speaks a dialect. */
export function apiOf(site: Site): Api {
  const { dialect } = site;
  const { encodings, hasOptions } = dialect.traits;
  return {
    encodings,
    findView(path) {
      const view = dialect.findView(site, path);
      if (view === undefined || hasOptions) return view;
      return { ...view, allow: view.allow.filter((method) => method !== 'OPTIONS') };
    },
    login: (request) => dialect.login(site, request),
    refuse: dialect.refuse,
  };
}

/** Returns `name` if it is one of `names`. @throws SimulatorError if not */
export function oneOf<Name extends string>(
  kind: string,
  names: readonly Name[],
  name: string,
): Name {
  const found = names.find((each) => each === name);
  if (found !== undefined) return found;
  // A list of all faults would not help.
  const hint = names.length > 20 ? '' : `; there are ${names.join(', ')}`;
  throw new SimulatorError(`there is no ${kind} "${name}"${hint}`);
}
