import type { DeviceRecord } from '../../../src/device/record.ts';
import type { Site } from './site.ts';
import { createRandom } from '../../../src/simulator/random.ts';
import type { QuirkName } from './dialect.ts';

const ZONES = ['example.org', 'example.net'];

/** Fills in what quirks add to a device when it starts. */
export function addContents({ store }: Site, quirks: ReadonlySet<QuirkName>, seed: string): void {
  const { users } = store;
  const random = createRandom(`${seed}:contents`);
  for (const [place, user] of users.entries()) {
    store.table('user')?.put({
      ...user,
      ...((quirks.has('hidden-fields') || quirks.has('sessions')) && {
        email: `${user.username}@example.net`,
      }),
      ...(quirks.has('hidden-fields') && { password: `hash of ${user.username}` }),
      ...(quirks.has('password-hash') && { password: `password of ${user.username}` }),
      ...(quirks.has('read-only-content') && { owner: 'root', groups: ['staff', 'ops'] }),
      ...(quirks.has('some-admins') && place % 3 === 0 && { is_admin: true }),
    });
  }
  const fill = (name: string, records: readonly DeviceRecord[]): void => {
    for (const fields of records) store.table(name)?.put({ ...fields, uuid: random.uuid() });
  };
  for (const kind of ['session', 'token']) {
    fill(
      kind,
      users.map(({ username }, place) => ({ name: `${kind}-${place + 1}`, username })),
    );
  }
  fill(
    'domain',
    ZONES.map((name) => ({ name, note: '' })),
  );
  fill(
    'entry',
    ZONES.flatMap((domain, place) =>
      ['www', 'mail', 'ns1'].map((name, index) => ({
        ...{ name, content: `10.${place}.0.${index + 1}` },
        domain,
      })),
    ),
  );
}
