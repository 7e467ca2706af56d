import { isRefusedLogin, RejectedError } from '../../device/errors.ts';
import { keyFieldOf } from '../../device/profile.ts';
import { valueText } from '../../device/record.ts';
import type { DevshError } from '../../errors.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import { counted, someOf } from '../../text/one-line.ts';
import type { Call } from '../command.ts';
import { info, type Output, success, table } from '../output.ts';
import { factsIn, lineOf, look, triedText } from './try-profile.ts';

/** Looks elsewhere for the users, by GET, and proposes a profile. Returns the session if the user keeps it. */
export async function* firstContact(
  call: Call<'yes'>,
  session: DeviceSession,
  failure: DevshError,
): AsyncGenerator<Output, DeviceSession | undefined> {
  const { inventory, profiles } = call.shell.services;
  const { entry, ref } = session;
  const resource = 'user';
  const wasRefused = isRefusedLogin(failure);
  const { tried, hints, profile, listed } = await look(call, { entry, resource }, wasRefused);
  // After a 401 the paths that answer 404 say nothing: the reason is rather a wrong password.
  const told = wasRefused ? tried.filter((place) => !place.includes('(404')) : tried;
  if (told.length > 1 || hints.length > 0) yield info(`${ref.name}: tried ${triedText(told)}`);
  if (hints.length === 0 || listed.length === 0) {
    if (failure instanceof RejectedError) return undefined;
    const facts = wasRefused
      ? ['auth.login.path', 'auth.login.token_in']
      : [`resources.${resource}.path`];
    const open = facts.map((fact) => ({ fact, value: fact.endsWith('path') ? '/PATH' : 'PLACE' }));
    const what = wasRefused ? 'it may open a session for a login' : 'its users may be elsewhere';
    yield info(`${ref.name}: ${what}; ${lineOf(ref, open)}`);
    return undefined;
  }
  yield table('suggestions', ['fact', 'value', 'why'], hints);
  const keyField = keyFieldOf(profile, resource, listed);
  const names = someOf(listed.map((record) => valueText(record[keyField])));
  yield info(
    `${ref.name}: with these facts devsh reads ${counted(listed.length, 'user')}: ${names}`,
  );
  if (!call.options.yes) {
    const text = `Keep them as the profile of ${ref.name}? y keeps it:`;
    const answer = await call.io.ask?.({ kind: 'confirm', text, expected: 'y' });
    if (answer !== 'y') {
      yield info(lineOf(ref, hints));
      return undefined;
    }
  }
  const name = ref.name.replaceAll(/[^\w.-]/g, '_');
  await profiles.setFacts(name, 'documented', factsIn(hints));
  const isListed = (await inventory.load()).find(ref.name) !== undefined;
  if (isListed) await inventory.edit((file) => file.setProfile(ref.name, name));
  else
    await inventory.edit((file) => file.addDevice({ ...entry, name, groups: [], profile: name }));
  const { fleet } = call.shell;
  const [kept] = fleet.sessions([{ ...entry, profile: name }]);
  fleet.join(kept === undefined ? [] : [kept]);
  yield success(`${ref.name} now uses the profile ${profiles.folder}/${name}.yaml`);
  return kept;
}
