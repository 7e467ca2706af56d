import { Credential } from '../../device/credential.ts';
import { CredentialError } from '../../errors.ts';
import type { Access } from '../../fleet/access.ts';
import type { Call } from '../call.ts';
import type { DeviceOption } from '../grammar/options.ts';

/** A wrong token is typed again so often. */
const MAX_TOKENS = 3;

/**
 * Trust as for a device; the token comes from `--token-stdin`, NETBOX_TOKEN, keychain or vault, or is
 * asked for. The login of the devices (DEVSH_TOKEN …) is not sent to a NetBox.
 */
export function netBoxAccess(call: Call<DeviceOption>): Access {
  const { access, credentials, options, io, session } = call;
  access.asksAtOnce = true;
  const { importing } = session.services;
  let asked = 0;
  return {
    trace: access.trace,
    notice: access.notice,
    timeoutMs: access.timeoutMs,
    trust: (entry) => access.trust(entry),
    route: (entry) => access.route(entry),
    profile: (entry) => access.profile(entry),
    acceptCertificate: (entry, error) => access.acceptCertificate(entry, error),
    admit: (entry, credential) => access.admit(entry, credential),
    async credential({ name, address }) {
      const token = options.tokenStdin ? undefined : importing.netBoxToken();
      if (token !== undefined) return Credential.token(token.trim());
      const { askPassphrase } = access;
      const found = await credentials.find({
        device: { name, address },
        user: options.user,
        skipsEnvironment: true,
        askPassphrase,
        signal: io.signal,
      });
      return found?.credential;
    },
    async anotherCredential({ name }, refused) {
      if (io.ask === undefined || asked >= MAX_TOKENS) {
        if (refused !== undefined) return undefined;
        throw new CredentialError(
          `${name}: no token. Set NETBOX_TOKEN, use --token-stdin, or keep one with "login ${name} --token"`,
        );
      }
      asked += 1;
      const token = await io.ask({ kind: 'secret', text: `Token of NetBox ${name}:` });
      return token === undefined || token === '' ? undefined : Credential.token(token.trim());
    },
  };
}
