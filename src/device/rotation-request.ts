import { RefusedError } from '../errors.ts';
import { MASK } from '../text/one-line.ts';
import { isSecretField } from './sensitive-fields.ts';
import { updateRequest, type WriteRequest, writeRequest } from './encode.ts';
import { isWritable, type Profile, resourceOf, updateFacts, type WriteFacts } from './profile.ts';
import { namesRecord } from './address.ts';
import type { DeviceRecord } from './record.ts';

export interface RotationRequest {
  readonly request: WriteRequest;
  /** Those that take a secret. */
  readonly fields: DeviceRecord;
  /** Which of them takes the old secret. */
  readonly old?: string | undefined;
  /** Where the response has the token that the device made. */
  readonly answer?: string | undefined;
}

const NEW = '{new}';
const PASSWORDS = ['password', 'passwd', 'passphrase', 'pwd'];

/** Throws a RefusedError that says how to state it, if nothing tells. A plan has masks for `secrets`. */
export function passwordRequest(
  profile: Profile,
  resource: string,
  record: DeviceRecord,
  secrets: { readonly new: string; readonly old: string } = { new: MASK, old: MASK },
): RotationRequest {
  const { rotate: known, fields: all } = resourceOf(profile, resource);
  const isHidden = (name: string): boolean =>
    isSecretField(name) && (all[name]?.hidden ?? all[name]?.writeOnly) === true;
  const usual =
    known?.path === undefined
      ? (PASSWORDS.find((name) => isWritable(all[name] ?? {})) ?? Object.keys(all).find(isHidden))
      : PASSWORDS[0];
  const texts = known?.fields ?? (usual === undefined ? {} : { [usual]: NEW });
  const names = Object.keys(texts);
  if (names.length === 0) throw new RefusedError({ code: 'no-rotation', is: 'password', resource });
  const plain = names.find((name) => !isSecretField(name));
  if (plain !== undefined)
    throw new RefusedError({ code: 'no-rotation', is: 'open', field: plain });
  const old = names.find((name) => texts[name] === '{old}');
  const fields = Object.fromEntries(
    names.map((name) => [name, name === old ? secrets.old : secrets.new]),
  );
  const { path: stated } = known ?? {};
  if (stated === undefined) {
    return { request: updateRequest(profile, resource, record, fields), fields, old };
  }
  const [, method, path = ''] = /^(?:(POST|PUT|PATCH) )?(.*)$/.exec(stated) ?? [];
  const action: WriteFacts = {
    method: (method ?? 'POST') as WriteFacts['method'],
    path,
    encoding: updateFacts(profile, resource).encoding,
    constants: {},
    selector: namesRecord(path) ? 'none' : 'key',
    record: 'changes',
  };
  return {
    request: writeRequest(profile, action, resource, { before: record, sent: fields }),
    fields,
    old,
  };
}

/** Throws a RefusedError if the profile does not say how. */
export function tokenRequest(
  profile: Profile,
  resource: string,
  record: DeviceRecord,
): RotationRequest {
  const known = resourceOf(profile, resource).rotateToken;
  if (known === undefined) throw new RefusedError({ code: 'no-rotation', is: 'token', resource });
  const { path, constants = {}, answer = 'token' } = known;
  const way = { method: 'POST', encoding: 'form', selector: 'none', record: 'none' } as const;
  const action: WriteFacts = { ...way, path, constants };
  const request = writeRequest(profile, action, resource, { before: record, sent: {} });
  return { request, fields: { token: MASK }, answer };
}
