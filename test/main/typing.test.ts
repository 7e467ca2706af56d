import { expect, test } from 'vitest';
import { startFleet } from './devsh.ts';

interface PlannedStep {
  readonly request: { readonly json: Readonly<Record<string, unknown>> };
  readonly before: Readonly<Record<string, unknown>>;
}

function firstStep(stdout: string): PlannedStep {
  const { plan } = JSON.parse(stdout) as { plan: { steps: PlannedStep[] }[] };
  const step = plan[0]?.steps[0];
  if (step === undefined) throw new Error('nothing is planned');
  return step;
}

const DRY = '--on sim1 --profile generic-rest --dry-run --json';

test('typed values are sent in the types of the device, also a part of a nested field', async () => {
  const { devsh } = await startFleet({ profile: 'generic-rest' });
  const set = await devsh(
    `interface set eth0 mtu=900 enabled=no ipv4.metric=8 addresses=a,b ${DRY}`,
  );
  const step = firstStep(set.stdout);
  expect(step.request.json).toMatchObject({ mtu: 900, enabled: false, addresses: ['a', 'b'] });
  expect(step.request.json['ipv4']).toEqual({ ...(step.before['ipv4'] as object), metric: 8 });
  const add = await devsh(`interface add name=007 mtu=900 ipv4={"mode":"none"} ${DRY}`);
  const added = firstStep(add.stdout);
  expect(added.request.json).toMatchObject({ name: '007', mtu: 900, ipv4: { mode: 'none' } });
  const wrong = await devsh(`interface set eth0 ipv4=none ${DRY}`);
  expect(wrong.exitCode).toBe(2);
  expect(wrong.stdout).toContain('ipv4: not a JSON object');
});

test('a text that looks like another type is reported if the type is unknown', async () => {
  const { devsh } = await startFleet({ profile: 'generic-rest' });
  const { stderr } = await devsh(
    'interface add name=x1 speed=10 note=fast --allow invalid --on sim1 --profile generic-rest --yes',
  );
  expect(stderr).toContain('the type of "speed" is unknown: devsh sends text');
  expect(stderr).not.toContain('type of "note"');
});

test('a dry run names what is unknown of a field, too, and nothing else', async () => {
  const { devsh } = await startFleet({ profile: 'generic-rest' });
  const set = await devsh(
    `interface set eth0 nosuch=1 ipv4.metric=9 ipv4.mtu=8 tags=["OK"] --allow invalid ${DRY}`,
  );
  expect(set.stderr).toContain('the record does not have a field "nosuch" yet');
  expect(set.stderr).toContain('the record does not have a field "ipv4.mtu" yet');
  expect(set.stderr).not.toContain('ipv4.metric');
  expect(firstStep(set.stdout).request.json).toMatchObject({
    nosuch: '1',
    ipv4: { metric: 9, mtu: '8' },
    tags: ['OK'],
  });
  const add = await devsh(
    `interface add name=x1 tags=["OK"] speed=10 mtu=900 --allow invalid ${DRY}`,
  );
  const rule = 'devsh sends text, and a list or an object as JSON';
  expect(add.stderr).toContain(`type of "tags" is unknown: ${rule} (tags:=… sends JSON)`);
  expect(add.stderr).toContain(`type of "speed" is unknown: ${rule} (speed:=… sends JSON)`);
  expect(add.stderr).not.toContain('"mtu"');
});

test('FIELD:=JSON is sent literally, and invalid JSON is shown with its place', async () => {
  const { devsh } = await startFleet({ profile: 'generic-rest' });
  const line = `interface set eth0 mtu:="900" description:=null ipv4.metric:=8 addresses:=[] ${DRY}`;
  const { json } = firstStep((await devsh(line)).stdout).request;
  expect(json).toMatchObject({ mtu: '900', description: null, addresses: [] });
  expect(json['ipv4']).toMatchObject({ metric: 8 });
  const wrong = await devsh('interface set eth0 mtu:=many --on sim1 --dry-run');
  expect(wrong.exitCode).toBe(2);
  expect(wrong.stderr).toContain(':= takes JSON');
  const twice = await devsh('interface set eth0 mtu=900 mtu:=900 --on sim1 --dry-run');
  expect(twice.stderr).toContain('mtu is given twice');
  const secret = await devsh(
    'user set viewer password:="hunter22" --on sim1 --profile generic-rest --yes',
  );
  expect(secret.stdout + secret.stderr).not.toContain('hunter22');
  expect((await devsh('runs --json')).stdout).not.toContain('hunter22');
});

test('a nested field is changed on a device where a POST to the list changes records', async () => {
  const { devsh, device } = await startFleet({ profile: 'drf', quirk: ['post-updates'] });
  const { stdout } = await devsh('interface set eth0 ipv4.metric=77 --on sim1 --yes');
  expect(stdout).toContain('done');
  const eth0 = device(1)
    .records('interface')
    .find(({ name }) => name === 'eth0');
  expect(eth0?.['ipv4']).toMatchObject({ metric: 77 });
  expect(eth0?.['addresses']).toHaveLength(2);
});

test('a new record gets no unnamed field that only some records have', async () => {
  const { devsh, device } = await startFleet({ profile: 'generic-rest', quirk: ['some-admins'] });
  const add = 'user add username=guest first_name=G lastname=H lang=de --on sim1';
  const { stdout } = await devsh(`${add} --profile generic-rest --yes`);
  expect(stdout).toContain('done');
  const [posted] = device(1).log.filter(({ method }) => method === 'POST');
  expect(JSON.parse(posted?.body ?? '')).toEqual({
    username: 'guest',
    first_name: 'G',
    lastname: 'H',
    lang: 'de',
  });
  const guest = device(1)
    .records('user')
    .find(({ username }) => username === 'guest');
  expect(guest).toMatchObject({ is_active: true });
  expect(guest).not.toHaveProperty('is_admin');
});

test('a field that may give rights is named, not filled in, if a form needs all fields', async () => {
  const { devsh, device, writes } = await startFleet({ profile: 'drf', quirk: ['no-options'] });
  const add = 'user add username=guest first_name=G lang=de --on sim1';
  const { stdout, stderr } = await devsh(`${add} --yes`);
  expect(stdout).toContain('(filled in: lastname="", because a form has all fields)');
  expect(stderr).toContain('"is_active" may grant rights and is not filled in');
  expect(device(1).log.find(({ method }) => method === 'POST')?.body).not.toContain('is_active');
  await devsh('profile set sim1 resources.user.fields=[username,lang,role]');
  const sent = writes().length;
  const refused = await devsh('user add username=other lang=de --on sim1 --yes');
  expect(refused.exitCode).toBe(6);
  expect(refused.stdout).toContain('a new user needs role');
  expect(writes()).toHaveLength(sent);
  await devsh('user add username=other lang=de role=guest --on sim1 --yes');
  expect(device(1).log.findLast(({ method }) => method === 'POST')?.body).toContain('role=guest');
});

test('a secret inside of JSON does not stay in the journal', async () => {
  const { devsh } = await startFleet({ profile: 'generic-rest' });
  const line =
    'user set viewer auth={"password":"hunter22"} --allow invalid --on sim1 --profile generic-rest --yes';
  await devsh(line);
  const runs = await devsh('runs --json');
  expect(runs.stdout).toContain('user set viewer');
  expect(runs.stdout).not.toContain('hunter22');
});
