import type { Credential } from '../device/credential.ts';
import {
  createRequest,
  deleteRequest,
  updateRequest,
  type WriteRequest,
} from '../device/encode.ts';
import { omission } from '../device/form-values.ts';
import { type Profile, updateFacts } from '../device/profile.ts';
import { type DeviceRecord, withoutFields } from '../device/record.ts';
import type { Meant } from './identity.ts';
import type { About } from './verdict.ts';

/** Records of one resource that a delete also deletes, or that refer to its record. */
export interface Dependents {
  readonly resource: string;
  /** Undefined if they could not be read. */
  readonly count?: number | undefined;
  /** The first natural keys. */
  readonly keys: readonly string[];
  /** They stay, and may change. */
  readonly refers?: true | undefined;
}

/** How an account gets a new secret. */
export interface Rotation {
  readonly kind: Credential['kind'];
  /** The field that takes the old secret. */
  readonly old?: string | undefined;
  /** Where the response has a token that the device makes, as `data.key`. */
  readonly answer?: string | undefined;
  /** An earlier run may have sent it. */
  readonly isSent?: true | undefined;
}

/** What a step is besides a write of its fields. */
export type Purpose =
  /** The user typed the request: it is sent as it is, and says nothing about how devsh writes. */
  | { readonly kind: 'typed' }
  /** The asked values were read from a device: it must hold exactly these. */
  | { readonly kind: 'restore' }
  /** A delete that undoes an add: nothing is lost. `isFirst`: the list was empty before. */
  | { readonly kind: 'undo'; readonly isFirst: boolean }
  /** The asked fields are masked, and take a new secret: never an ordinary write. */
  | { readonly kind: 'rotate'; readonly rotation: Rotation }
  | {
      readonly kind: 'lockout';
      /** What the verdict does not claim; a sentence of its note. */
      readonly caution?: string | undefined;
      /** It ends a session or a token of the account: an undo does not open it again. */
      readonly endsAccess?: true | undefined;
    };

/** Undefined for a step that rotates no secret. */
export function rotationOf({ purpose }: Pick<Step, 'purpose'>): Rotation | undefined {
  return purpose?.kind === 'rotate' ? purpose.rotation : undefined;
}

/** A lockout deletes a session or a token: nothing is lost, and an undo does not open it again. */
export function endsAccess(purpose: Purpose | undefined): boolean {
  return purpose?.kind === 'lockout' && purpose.endsAccess === true;
}

/** What a request does beside writing the asked fields, and what cannot be taken back. */
export interface Effects {
  /** Fields that must be sent although the user did not give them: field -> source of its value. */
  readonly filled?: Readonly<Record<string, string>> | undefined;
  /** Fields that the body omits and the device therefore erases. */
  readonly erases?: readonly string[] | undefined;
  /** Omitted fields that the device may erase. Empty: only hidden fields are at risk. */
  readonly mayErase?: readonly string[] | undefined;
  /** What the encoding cannot say, and the device therefore does not store: `null of memo`. */
  readonly unsayable?: readonly string[] | undefined;
  /** Fields that all records have and that may give rights: not filled in. */
  readonly leftOut?: readonly string[] | undefined;
  /** Fields of unknown type whose values look like more than text; a part as `a.b`. */
  readonly untyped?: readonly string[] | undefined;
  /** What does not come back: by the undo of a delete or a set, or by the step itself if it restores a record. */
  readonly lost?: DeviceRecord | undefined;
  /** Records of other resources that a delete affects, or that a step that takes a delete back does not bring back. */
  readonly takes?: readonly Dependents[] | undefined;
}

/** One write to one record of one device, planned from its current state. Its key is that before the step. */
export interface Step extends About {
  readonly keyField: string;
  readonly request: WriteRequest;
  /** Absent: it only writes its fields. */
  readonly purpose?: Purpose | undefined;
  /** The record before; absent for `add`. */
  readonly before?: DeviceRecord | undefined;
  /** The expected record afterwards, as far as it is known; absent for `delete`. */
  readonly after?: DeviceRecord | undefined;
  /** The fields that the user gave. */
  readonly asked: DeviceRecord;
  readonly effects: Effects;
  /** Asked fields that the record shall no longer have. */
  readonly removes?: readonly string[] | undefined;
  /** How its record was found. */
  readonly meant?: Pick<Meant, 'filter' | 'isKeyShared'> | undefined;
}

/** Whether a change removes a field by leaving it out: a PUT replaces the record, unless the device keeps it. */
export function isErasedByOmission(profile: Profile, resource: string): boolean {
  const facts = updateFacts(profile, resource);
  const omitted = omission(profile, resource, facts);
  return omitted === 'erased' || (omitted !== 'kept' && facts.method === 'PUT');
}

/** A step with the request that carries it out, as the profile says; what the user typed is sent as it is. */
export function withRequest(
  profile: Profile,
  step: Omit<Step, 'request'>,
  typed?: WriteRequest,
): Step {
  const { action, resource, before = {}, after = {}, asked, removes = [] } = step;
  const build = {
    add: () => createRequest(profile, resource, after),
    set: () => {
      const isRemoving = removes.length > 0 && isErasedByOmission(profile, resource);
      const kept = isRemoving ? withoutFields(before, removes) : before;
      return updateRequest(profile, resource, kept, asked);
    },
    delete: () => deleteRequest(profile, resource, before),
  };
  return { ...step, request: typed ?? build[action]() };
}
