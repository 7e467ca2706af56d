import { describe, expect, test } from 'vitest';
import { ENVELOPE_NAMES, PAGING_NAMES, PROFILE_NAMES } from './dialect.ts';
import { startSimulator } from '../simulator.ts';
import { ask } from '../ask.ts';
import { askJson, startDevice } from '../dialect-device.ts';

type Page = Record<string, unknown>;
const LISTS = ['results', 'data', 'rows', 'records', 'user'] as const;

describe('envelopes', () => {
  test.each(LISTS)('%s holds all records', async (envelope) => {
    const device = await startDevice({ envelope });

    const { value } = await askJson(device, 'GET', '/api/user/');

    expect((value as Page)[envelope]).toEqual(device.records('user'));
  });

  test('user is named after the resource', async () => {
    const device = await startDevice({ profile: 'drf', envelope: 'user' });

    const { value } = await askJson(device, 'GET', '/api/interface/');

    expect(value).toEqual({ interface: device.records('interface'), status: 'OK' });
  });

  test('keyed says the name once, outside of the record', async () => {
    const device = await startDevice({ profile: 'form-action', envelope: 'keyed' });

    const { value } = await askJson(device, 'GET', '/api/user/');

    expect(Object.keys(value as object)).toHaveLength(25);
    expect((value as Page).admin).toEqual({
      first_name: 'Ada',
      lastname: 'Operator',
      lang: 'en',
      canBeDeleted: false,
    });
  });

  test('key-value has a line for each field and an empty one between records', async () => {
    const device = await startDevice({ profile: 'form-action', envelope: 'key-value' });

    const users = await ask(device);
    const interfaces = await ask(device, { path: '/api/interface/' });

    expect(users.headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(users.body.split('\n\n')[0]).toMatchInlineSnapshot(`
      "first_name=Ada
      lastname=Operator
      username=admin
      lang=en
      canBeDeleted=false"
    `);
    expect(users.body.split('\n\n')).toHaveLength(25);
    expect(interfaces.body).toMatch(/^addresses=10\.1\.0\.\d+\/24,2001:db8:1::2\/64$/m);
    expect(interfaces.body).toMatch(/^ipv4\.mode=static$/m);
  });

  test('form-text has a form on each line, which repeats the name for a list', async () => {
    const device = await startDevice({ profile: 'drf', envelope: 'form-text' });

    const users = (await ask(device)).body.trimEnd().split('\n');
    const [interfaces = ''] = (await ask(device, { path: '/api/interface/' })).body.split('\n');

    expect(users.map((line) => new URLSearchParams(line).get('first_name'))).toEqual(
      device.users.map((user) => user.first_name),
    );
    expect(new URLSearchParams(interfaces).getAll('addresses')).toHaveLength(2);
  });
});

describe('paging', () => {
  test('next counts, links absolutely and ends', async () => {
    const device = await startDevice({ profile: 'drf', paging: 'next' });
    const pages: Page[] = [];
    let path: string | undefined = '/api/user/?lang=any';
    while (path !== undefined) {
      const page: Page = (await askJson(device, 'GET', path)).value as Page;
      pages.push(page);
      const next = page.next as string | null;
      expect(next ?? device.url).toContain(device.url);
      path = next === null ? undefined : next.slice(device.url.length);
    }

    expect(pages.map(({ count, previous }) => [count, previous])).toEqual([
      [25, null],
      [25, `${device.url}/api/user/?lang=any`],
      [25, `${device.url}/api/user/?lang=any&page=2`],
    ]);
    expect(pages.flatMap(({ results }) => results)).toEqual(device.records('user'));
    expect(await askJson(device, 'GET', '/api/user/?page=4')).toMatchObject({
      status: 404,
      value: { detail: 'Invalid page.' },
    });
  });

  test('page counts rows from the current page on', async () => {
    const device = await startDevice({ profile: 'generic-rest', paging: 'page' });
    const read = async (query: string) =>
      (await askJson(device, 'GET', `/api/user${query}`)).value as Page;

    expect(await read('')).toMatchObject({ rowCount: 10, total: 25, current: 1 });
    expect(await read('?current=3')).toEqual({
      rowCount: 5,
      total: 25,
      current: 3,
      rows: device.records('user').slice(20),
    });
    expect(await read('?current=9')).toMatchObject({ rowCount: 0, rows: [] });
    expect(await read('?rowCount=-1')).toMatchObject({ rowCount: 25 });
  });

  test('offset goes on from a record', async () => {
    const device = await startDevice({ paging: 'offset', pageSize: 4 });
    const read = async (query: string) =>
      (await askJson(device, 'GET', `/api/user/${query}`)).value;
    const users = device.records('user');

    expect(await read('')).toEqual({ total: 25, records: users.slice(0, 4) });
    expect(await read('?offset=22&limit=10')).toEqual({ total: 25, records: users.slice(22) });
    expect(await read('?offset=30')).toEqual({ total: 25, records: [] });
  });
});

test('every combination either lists its first page or is a RangeError that names both', async () => {
  for (const profile of PROFILE_NAMES) {
    for (const envelope of ENVELOPE_NAMES) {
      for (const paging of PAGING_NAMES) {
        const isPossible = paging === 'none' || LISTS.some((list) => list === envelope);
        const started = startSimulator({ profile, envelope, paging, users: 12 });
        if (!isPossible) {
          await expect(started).rejects.toThrow(
            new RangeError(`The envelope ${envelope} has no room for the paging ${paging}.`),
          );
          continue;
        }
        const simulator = await started;
        const [device] = simulator.devices;
        const path = profile === 'generic-rest' ? '/api/user' : '/api/user/';
        const { status, body } = device ? await ask(device, { path }) : { status: 0, body: '' };
        await simulator.close();
        expect([status, body.match(/viewer/g)?.length]).toEqual([200, 1]);
      }
    }
  }
});

test.each([0, 1.5, -1])('a page of %d records is refused', async (pageSize) => {
  await expect(startSimulator({ pageSize })).rejects.toThrow(RangeError);
});
