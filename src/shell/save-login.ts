import { DevshError } from '../errors.ts';
import type { Call } from './call.ts';
import type { Output } from './output.ts';

/** Credentials that the user typed and a device accepted are kept in the keychain, if the user agrees. */
export async function* offerToSave(call: Call): AsyncGenerator<Output> {
  const { access, io, options } = call;
  const typed = [...access.typed];
  access.typed.clear();
  if (typed.length === 0 || io.ask === undefined) return;
  if (!call.session.services.offersToSave) return;
  const credentials = call.session.services.credentials(options);
  if (credentials.keychainProblem !== undefined) return;
  const where = typed.map(([{ name }]) => name).join(', ');
  const answer = await io.ask({
    kind: 'confirm',
    text: `Keep the login for ${where} in the keychain? Type y to keep it:`,
    expected: 'y',
  });
  if (answer !== 'y') return;
  try {
    for (const [entry, credential] of typed) {
      await credentials.store({ name: entry.name, address: entry.address }, credential.revealed());
    }
    yield { kind: 'message', level: 'done', text: `kept the login for ${where} in the keychain` };
  } catch (error) {
    if (!(error instanceof DevshError)) throw error;
    yield { kind: 'error', error };
  }
}
