import { join } from 'node:path';
import { OsKeychain } from '../../src/credentials/keychain.ts';
import { RotationStore } from '../../src/credentials/rotation-store.ts';
import { Vault } from '../../src/credentials/vault.ts';
import type { RotatedAccount } from '../../src/device/credential.ts';

// Promotes the pending secret of an account in a vault, and is killed before write number `at`.
const [folder = '', passphrase = '', account = '', at = ''] = process.argv.slice(2);

let writes = 0;
const dieBefore = <Args extends unknown[]>(write: (...args: Args) => Promise<void>) => {
  return (...args: Args): Promise<void> => {
    if (writes === Number(at)) process.kill(process.pid, 'SIGKILL');
    writes += 1;
    return write(...args);
  };
};

const vault = new Vault(join(folder, 'vault.age'));
await vault.unlock(passphrase);
vault.store = dieBefore(vault.store.bind(vault));
vault.writeRotations = dieBefore(vault.writeRotations.bind(vault));
const store = await RotationStore.open({
  keychain: new OsKeychain({ env: { DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere' } }),
  vault,
  unlockVault: () => Promise.resolve(true),
  lockPath: join(folder, 'rotation'),
});
await store.promote(JSON.parse(account) as RotatedAccount, { isLogin: true });
