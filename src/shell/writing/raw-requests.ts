import type { FormPairs } from '../../device/encode.ts';
import { idOf, keyFieldOf } from '../../device/profile.ts';
import { type DeviceRecord, valueText } from '../../device/record.ts';
import { opensAccess } from '../../change/account-harm.ts';
import { guardStep } from '../../change/guard.ts';
import type { Step } from '../../change/plan.ts';
import { DevshError, RefusedError } from '../../errors.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import type { Call } from '../command.ts';
import { info, type Output, warning } from '../output.ts';
import { reasonFor } from './write.ts';
import { confirm } from '../session.ts';

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
  const { pathname } = new URL(path, 'https://device.invalid');
  const words = pathname.split('/').filter((word) => word !== '');
  const resource = words.find(opensAccess);
  if (resource === undefined) return;
  const records = await recordsOf(call, session, resource);
  const { profile } = session;
  const keyField = keyFieldOf(profile, resource, records);
  const asked = Object.fromEntries(form);
  const names = [...words.slice(words.indexOf(resource) + 1).map(decoded), ...Object.values(asked)];
  const before = records.find((record) =>
    [idOf(profile, record), valueText(record[keyField])].some(
      (name) => name !== undefined && name !== '' && names.includes(name),
    ),
  );
  const isDelete = method === 'DELETE' || /^(?:del|rem)/i.test(asked['action'] ?? '');
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

/** Empty if they cannot be read: the names in the request are checked anyway. */
async function recordsOf(
  call: Call<'allow'>,
  session: DeviceSession,
  resource: string,
): Promise<readonly DeviceRecord[]> {
  try {
    return await session.list(call.access, resource, call.io.signal);
  } catch (error) {
    if (!(error instanceof DevshError) || error.code === 'cancelled') throw error;
    return [];
  }
}

function decoded(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}
