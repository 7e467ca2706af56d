import { expect, test } from 'vitest';
import { pageMarksOf } from '../../src/device/pages.ts';

test.each([
  [{ '@odata.nextLink': '/u?$skip=10', '@odata.count': 37 }, '/u?$skip=10', 37],
  [{ 'Members@odata.nextLink': '/u?$skip=10', 'Members@odata.count': 37 }, '/u?$skip=10', 37],
  [{ nextLink: '/u?p=2' }, '/u?p=2', undefined],
  [{ next_page_url: 'https://fw1/u?page=2', total: 37 }, 'https://fw1/u?page=2', 37],
  [{ '@odata.nextLink': null, '@odata.count': 3 }, undefined, 3],
])('%j names the next page and the number of records', (envelope, next, total) => {
  const marks = pageMarksOf(envelope);
  expect(marks.next).toBe(next);
  expect(marks.total).toBe(total);
});
