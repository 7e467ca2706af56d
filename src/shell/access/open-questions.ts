import { counted } from '../../text/one-line.ts';
import {
  UnauthorizedError,
  UntrustedError,
  type PresentedCertificate,
} from '../../device/errors.ts';
import { CredentialError, LoginInDoubtError } from '../../errors.ts';
import type { Fleet } from '../../fleet/fleet.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import { sortBy } from '../../fleet/sort.ts';

/** What devsh must ask about one device before it can continue; not yet safe to show. */
export interface DeviceQuestion {
  /** `changed`: the certificate differs from the pinned one. */
  readonly kind: 'changed' | 'certificate' | 'login';
  readonly name: string;
  readonly address: string;
  readonly presented: PresentedCertificate | undefined;
  /** The pin that it does not match. */
  readonly pinned: { readonly fingerprint: string; readonly since: string } | undefined;
  readonly reason: string;
}

/** Suspicious ones come first. */
const KINDS = ['changed', 'certificate', 'login'] as const;

export function openQuestions(fleet: Fleet): DeviceQuestion[] {
  const open = fleet.known.flatMap((session) => {
    const question = questionOf(session);
    return question === undefined || session.declined === idOf(question) ? [] : [question];
  });
  return sortBy(open, ['kind', 'name'], ({ kind, name }, field) =>
    field === 'kind' ? KINDS.indexOf(kind) : name,
  );
}

/** Removes the question about a device from the list. Another certificate is a new question. */
export function decline(session: DeviceSession): void {
  const question = questionOf(session);
  if (question !== undefined) session.decline(idOf(question));
}

function idOf({ kind, presented }: DeviceQuestion): string {
  return `${kind} ${presented?.fingerprint ?? ''}`;
}

function questionOf({ ref, failure: error, trust }: DeviceSession): DeviceQuestion | undefined {
  const { name, address } = ref;
  const reason = error?.message.replace(`${name}: `, '') ?? '';
  const nothing = { name, address, reason, presented: undefined, pinned: undefined };
  if (error instanceof UntrustedError) {
    const { presented } = error;
    if (error.reason === 'unknown') return { ...nothing, kind: 'certificate', presented };
    if (error.reason !== 'changed' || trust?.kind !== 'pinned') return undefined;
    const pinned = { fingerprint: trust.fingerprint, since: trust.pinnedAt };
    return { ...nothing, kind: 'changed', presented, pinned };
  }
  const isLogin =
    // No typed login settles a rotation: `resume` does.
    (error instanceof CredentialError && !(error instanceof LoginInDoubtError)) ||
    (error instanceof UnauthorizedError && error.code === 'unauthorized');
  return isLogin ? { ...nothing, kind: 'login' } : undefined;
}

/** "1 CHANGED certificate, 83 certificates, 2 logins"; empty if there are no questions. */
export function questionsText(questions: readonly Pick<DeviceQuestion, 'kind'>[]): string {
  const nouns = { changed: 'CHANGED certificate', certificate: 'certificate', login: 'login' };
  return KINDS.flatMap((kind) => {
    const count = questions.filter((question) => question.kind === kind).length;
    return count === 0 ? [] : counted(count, nouns[kind]);
  }).join(', ');
}
