import type { FormPairs } from '../../device/encode.ts';
import { idOf, keyFieldOf } from '../../device/profile.ts';
import { type DeviceRecord, valueText } from '../../device/record.ts';
import { isSameName, named, opensAccess } from '../../change/account-harm.ts';
import { allowHint, BREAK_GLASS } from '../../change/allow.ts';
import { isBreakGlass } from '../../change/break-glass.ts';
import { guardStep } from '../../change/guard.ts';
import { RefusedError, attempt, unlessFailed } from '../../errors.ts';
import { quoteWord } from '../../text/words.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import type { Call } from '../command.ts';
import { info, type Output, warning } from '../output.ts';
import { reasonFor } from './consent.ts';
import { confirm } from '../session.ts';
import type { Step } from '../../change/step.ts';

/** Returns false for a dry run. Throws a `RefusedError` if it is not confirmed. */
export async function* confirmRaw(
  call: Call<'dryRun' | 'yes' | 'reason'>,
  sessions: readonly DeviceSession[],
  request: string,
): AsyncGenerator<Output, boolean> {
  const names = sessions.map(({ ref }) => ref.name).join(', ');
  if (call.isReadOnly || sessions.some(({ entry }) => entry.readOnly === true)) {
    throw new RefusedError('read-only: nothing was sent');
  }
  if (call.options.dryRun) {
    yield info(`would send ${request} to ${names}`);
    return false;
  }
  if ((await reasonFor(call)) !== undefined) {
    yield warning('devsh does not keep the reason: a raw request has no journal');
  }
  const textFor = (expected: string): string =>
    `${request} to ${names}? devsh does not read it back. Type ${expected} to send it:`;
  await confirm(call, sessions.length, textFor);
  return true;
}

/** Throws a `RefusedError` for what would lock its user out, judged by the records of the device. */
export async function guardRaw(
  call: Call<'allow'>,
  session: DeviceSession,
  method: 'POST' | 'DELETE',
  path: string,
  form: FormPairs = [],
): Promise<void> {
  const { breakGlass = [] } = session.entry;
  if (call.options.allow.has('own-account') && breakGlass.length === 0) return;
  await session.ensureOpen(call.access);
  const { pathname, searchParams } = new URL(path, 'https://device.invalid');
  const words = pathname.split('/').filter((word) => word !== '');
  const found = words.filter(opensAccess);
  // The last word may be an account, such as admin.
  const resources = found.length > 1 ? found.filter((word) => word !== words.at(-1)) : found;
  const lists = new Map<string, readonly DeviceRecord[] | undefined>();
  for (const resource of resources) {
    // If they cannot be read, the names in the request are checked anyway.
    const list = session.list(call.access, resource, call.io.signal);
    lists.set(resource, await unlessFailed(list));
  }
  const { profile } = session;
  const asked = Object.fromEntries(form);
  const isDelete = method === 'DELETE' || /^(?:del|rem)/i.test(asked['action'] ?? '');
  for (const [resource, records = []] of lists) {
    const keyField = keyFieldOf(profile, resource, records);
    const after = words.slice(words.indexOf(resource) + 1).map(decoded);
    const names = [...after, ...searchParams.values(), ...Object.values(asked)];
    const before = records.find((record) =>
      [idOf(profile, record), valueText(record[keyField])].some(
        (name) => name !== undefined && name !== '' && names.includes(name),
      ),
    );
    const step: Step = {
      action: isDelete ? 'delete' : before === undefined ? 'add' : 'set',
      resource,
      key: valueText(before?.[keyField]) || (asked[keyField] ?? names[0] ?? ''),
      keyField,
      request: { method, path },
      ...(before && { before }),
      after: { ...before, ...asked },
      asked,
      filled: {},
    };
    guardStep(session, step, records, call.options.allow);
  }
  const isUnread = resources.length > 0 && [...lists.values()].every((list) => list === undefined);
  const isNamed = [...call.options.allow].some((word) => word.startsWith(`${BREAK_GLASS}=`));
  if (isDelete && isUnread && breakGlass.length > 0 && !isNamed) {
    throw new RefusedError(
      `${session.ref.name}: ${resources.join(', ')} cannot be read, so the account may be a break-glass one (${breakGlass.join(', ')}); name it in full to override: --allow ${BREAK_GLASS}=NAME`,
    );
  }
  // Of a path about groups or roles nobody knows what it does: a name in it counts.
  const base = profile.basePath.split('/');
  const inPath = words.filter((word) => !base.includes(word)).map(decoded);
  const inBody = form.flatMap(([, text]) => [text, ...text.split(/[\s,;:='"[\]{}]+/)]);
  const user = session.credential?.user ?? '';
  const isOwn = isDelete && user !== '' && inPath.some((name) => isSameName(name, user));
  if (isOwn && !call.options.allow.has('own-account')) {
    throw new RefusedError(
      `${session.ref.name}: the path names ${named(user)}, the account in use; ${allowHint('own-account')}`,
    );
  }
  const isRefused = (name: string): boolean =>
    isBreakGlass(name, breakGlass) && !call.options.allow.has(`${BREAK_GLASS}=${name}`);
  const glass = [...inPath, ...searchParams.values(), ...inBody].find(isRefused);
  if (glass === undefined) return;
  throw new RefusedError(
    `${session.ref.name}: the request names ${named(glass)}, a break-glass account; name it in full to override: --allow ${quoteWord(`${BREAK_GLASS}=${glass}`)}`,
  );
}

function decoded(word: string): string {
  return attempt(URIError, () => decodeURIComponent(word)) ?? word;
}
