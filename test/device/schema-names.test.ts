import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isSecretName } from '../../src/device/sensitive-fields.ts';

interface Names {
  /** The value is a password, a key, a community, a seed, or what replaces or reveals one. */
  readonly secret: readonly string[];
  readonly open: readonly string[];
}

const { first, second } = JSON.parse(
  readFileSync(join(import.meta.dirname, 'schema-names.json'), 'utf8'),
) as Record<'first' | 'second', Names>;

const percent = (part: readonly string[], whole: readonly string[]): string =>
  `${((100 * part.length) / whole.length).toFixed(1)} % of ${whole.length}`;

function judged({ secret, open }: Names) {
  const missed = secret.filter((name) => !isSecretName(name));
  const taken = open.filter(isSecretName);
  return { missed: percent(missed, secret), taken: percent(taken, open), names: taken };
}

test('at most 5 % of the secrets in MIB and LDAP schemas are missed, and at most 2 % of the others taken for one', () => {
  const secret = [...first.secret, ...second.secret];
  const open = [...first.open, ...second.open];
  expect(secret.filter((name) => !isSecretName(name)).length / secret.length).toBeLessThan(0.05);
  expect(open.filter(isSecretName).length / open.length).toBeLessThan(0.02);
  expect({
    'seen by the rule': judged(first),
    'never seen': judged(second),
  }).toMatchInlineSnapshot(`
    {
      "never seen": {
        "missed": "0.0 % of 90",
        "names": [
          "dot3adAggActorAdminKey",
          "dot3adAggActorOperKey",
          "dot3adAggPartnerOperKey",
          "dot3adAggPortActorAdminKey",
          "apGroupRekey",
          "bgpExtCommunity",
        ],
        "taken": "2.6 % of 227",
      },
      "seen by the rule": {
        "missed": "4.0 % of 149",
        "names": [
          "ipv6IfToken",
          "snmpInBadCommunityNames",
          "automountKey",
          "pwdSafeModify",
          "olcPasswordHash",
        ],
        "taken": "0.9 % of 537",
      },
    }
  `);
});
