import { DevshError } from '../../errors.ts';
import type { Call } from '../call.ts';
import { message, type Output } from '../output.ts';

/** Credentials that the user typed and a device accepted are kept, if the user agrees. */
export async function* offerToSave(call: Call): AsyncGenerator<Output> {
  const { access, credentials, io } = call;
  const typed = [...access.typed];
  access.typed.clear();
  if (typed.length === 0 || io.ask === undefined) return;
  if (!call.session.services.offersToSave) return;
  const store = await credentials.placeToStore();
  if (store === undefined) return;
  const where = typed.map(([{ name }]) => name).join(', ');
  const answer = await io.ask({
    kind: 'confirm',
    text: `Keep the login for ${where} in the ${store}? Type y to keep it:`,
    expected: 'y',
    isLate: io.asksLater === true,
  });
  if (answer !== 'y') return;
  try {
    const { askPassphrase } = access;
    for (const [{ name, address }, credential] of typed) {
      await credentials.store({ name, address }, credential.revealed(), {
        to: store,
        askPassphrase,
      });
    }
    yield message('done', `kept the login for ${where} in the ${store}`);
  } catch (error) {
    if (!(error instanceof DevshError)) throw error;
    yield { kind: 'error', error };
  }
}
