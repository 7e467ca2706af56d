import type { Credential } from '../device/credential.ts';
import type { WriteRequest } from '../device/encode.ts';
import type { DeviceRecord } from '../device/record.ts';
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

/** A lockout deletes a session or a token: nothing is lost, and an undo does not open it again. */
export function endsAccess(purpose: Purpose | undefined): boolean {
  return purpose?.kind === 'lockout' && purpose.endsAccess === true;
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
  /** Fields that must be sent although the user did not give them: field -> source of its value. */
  readonly filled: Readonly<Record<string, string>>;
  /** Fields that the body omits and the device therefore erases. */
  readonly erases?: readonly string[] | undefined;
  /** Omitted fields that the device may erase. Empty: only hidden fields are at risk. */
  readonly mayErase?: readonly string[] | undefined;
  /** What the encoding cannot say, and the device therefore does not store: `null of memo`. */
  readonly unsayable?: readonly string[] | undefined;
  /** Asked fields that the record shall no longer have. */
  readonly removes?: readonly string[] | undefined;
  /** What an undo does not restore, or no undo of a delete would. */
  readonly lost?: DeviceRecord | undefined;
  /** Records of other resources that a delete concerns, or that its undo does not bring back. */
  readonly takes?: readonly Dependents[] | undefined;
  /** Fields that all records have and that may give rights: not filled in. */
  readonly leftOut?: readonly string[] | undefined;
  /** The filter that selected the record. */
  readonly filter?: string | undefined;
  /** Its place in the plan of a run that is continued. */
  readonly index?: number | undefined;
  /** Another record has the same natural key as the deleted one. */
  readonly isKeyShared?: true | undefined;
  /** Fields of unknown type whose values look like more than text; a part as `a.b`. */
  readonly untyped?: readonly string[] | undefined;
}
