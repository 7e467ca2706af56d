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

test('what is typed is sent in the types of the device, a part of a nested field among the others', async () => {
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
  expect(wrong.stdout).toContain('ipv4: no JSON object');
});

test('a text that looks like more is told where nobody knows the type', async () => {
  const { devsh } = await startFleet({ profile: 'generic-rest' });
  const { stderr } = await devsh(
    'interface add name=x1 speed=10 note=fast --on sim1 --profile generic-rest --yes',
  );
  expect(stderr).toContain('nobody has told the type of "speed": it is sent as text');
  expect(stderr).not.toContain('type of "note"');
});

test('a secret inside of JSON does not stay in the journal', async () => {
  const { devsh } = await startFleet({ profile: 'generic-rest' });
  const line =
    'user set viewer auth={"password":"hunter22"} --on sim1 --profile generic-rest --yes';
  await devsh(line);
  const runs = await devsh('runs --json');
  expect(runs.stdout).toContain('user set viewer');
  expect(runs.stdout).not.toContain('hunter22');
});
