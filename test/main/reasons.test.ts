import { expect, test } from 'vitest';
import { issuesOf, issuesText } from '../../src/device/complaint.ts';
import { startOwnDevice } from './own-device.ts';

test('the reason of a device stands beside what differs', async () => {
  const { devsh } = await startOwnDevice({
    refuse: () => 'The locale en is not installed.',
    list: (users) =>
      users.map((user) => (user['username'] === 'bob' ? { ...user, first_name: 'Rob' } : user)),
  });
  const half = await devsh('user set bob lang=en first_name=Rob --on oslo --yes');
  expect(half.stdout).toContain('lang: sent en, device has de');
  expect(half.stdout).toContain('The locale en is not installed');
  const other = await devsh('user set bob lang=en --on oslo --yes');
  expect(other.stdout).toContain('The locale en is not installed');
});

test.each([
  ['{"error": 400, "status": "Invalid filter specified."}', 'Invalid filter specified.'],
  ['{"code": 422, "status": "RRset has no content"}', 'RRset has no content'],
  ['{"error": 404}', '404'],
  ['{"status": "error", "message": "no such user"}', 'no such user'],
])('the reason in %s is more than its code', (body, text) => {
  expect(issuesText(issuesOf(body))).toBe(text);
});
