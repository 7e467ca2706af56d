import type { Call } from '../call.ts';
import { deviceFindings } from './devices.ts';
import { fileFindings } from './files.ts';
import type { Finding } from './finding.ts';
import { keychainFindings } from './keychain.ts';
import { machineFindings } from './machine.ts';

/** All that `doctor` looks at, as it is found. */
export async function* allFindings(call: Call<'on'>): AsyncGenerator<Finding> {
  const { services, fleet } = call.session;
  yield* machineFindings(services);
  yield* fileFindings(services);
  yield* keychainFindings(call);
  const named = [...call.args.all('TARGET'), ...call.options.on];
  const members = named.length > 0 ? await call.resolve(named) : fleet.selection;
  yield* deviceFindings(call, members);
}
