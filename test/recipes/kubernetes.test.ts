import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { isInShard } from '../../src/change/plan.ts';
import { IS_ROOT, startAsUid } from '../main/no-account.ts';
import { startProgram, waitUntil } from '../main/process.ts';
import { isLong } from '../rounds.ts';
import { recipe, startLab } from './lab.ts';

/** What the tests read of the manifest. */
const job = z.looseObject({
  spec: z.looseObject({
    completionMode: z.literal('Indexed'),
    completions: z.number(),
    podFailurePolicy: z.looseObject({ rules: z.array(z.unknown()) }),
    template: z.looseObject({
      spec: z.looseObject({
        securityContext: z.looseObject({ runAsNonRoot: z.literal(true), runAsUser: z.number() }),
        containers: z.tuple([
          z.looseObject({
            name: z.string(),
            command: z.array(z.string()),
            args: z.tuple([z.string()]),
            env: z.array(z.strictObject({ name: z.string(), value: z.string() })),
            volumeMounts: z.array(z.looseObject({ name: z.string() })),
          }),
        ]),
        volumes: z.array(z.looseObject({ name: z.string() })),
      }),
    }),
  }),
});

async function readManifest(): Promise<unknown> {
  // Kubernetes reads YAML 1.1, where 0440 is octal.
  return parse(await readFile(recipe('kubernetes-job.yaml'), 'utf8'), { version: '1.1' });
}

async function readJob(): Promise<z.infer<typeof job>> {
  return job.parse(await readManifest());
}

/** What the types that are made from the OpenAPI of Kubernetes find wrong with a Job. */
function mistakesOf(manifest: unknown): string[] {
  const path = join(import.meta.dirname, 'manifest.ts');
  const text = `import type { Job } from 'kubernetes-types/batch/v1.d.ts';
    export const job: Job = ${JSON.stringify(manifest)};`;
  const options: ts.CompilerOptions = {
    ...{ noEmit: true, strict: true, skipLibCheck: true, types: [], lib: ['lib.es2022.d.ts'] },
    ...{ module: ts.ModuleKind.NodeNext, allowImportingTsExtensions: true },
  };
  const host = ts.createCompilerHost(options);
  const getSourceFile = host.getSourceFile.bind(host);
  host.getSourceFile = (name, target, ...rest) =>
    name === path ? ts.createSourceFile(name, text, target) : getSourceFile(name, target, ...rest);
  return ts
    .getPreEmitDiagnostics(ts.createProgram([path], options, host))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

test('the manifest is a Job by the OpenAPI of Kubernetes', async () => {
  const manifest = await readManifest();
  expect(mistakesOf(manifest)).toEqual([]);
  const { spec } = job.parse(manifest);
  expect(mistakesOf({ spec: { ...spec, completions: '4' } })).toHaveLength(1);
  expect(mistakesOf({ spec: { ...spec, completionMod: 'Indexed' } })).toHaveLength(1);
  // Required up to Kubernetes 1.33: `status`.
  const rules = [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] }];
  expect(mistakesOf({ spec: { ...spec, podFailurePolicy: { rules } } })).toHaveLength(1);
});

test('the manifest fails a shard whose login is refused', async () => {
  const { spec } = await readJob();
  const [container] = spec.template.spec.containers;
  const mounts = container.volumeMounts.map((mount) => mount.name);
  expect(mounts).toEqual(spec.template.spec.volumes.map((volume) => volume.name));
  const [refused] = spec.podFailurePolicy.rules;
  expect(refused).toMatchObject({
    action: 'FailIndex',
    onExitCodes: { containerName: container.name },
  });
  expect(refused).toHaveProperty('onExitCodes.values', expect.arrayContaining([4]));
});

test('the pods of the manifest apply their plans, as a uid without an account and without a pin of their own', async () => {
  const { folder, devices, run } = await startLab({ devices: 6 });
  const inventory = devices.map(
    ({ name, address, fingerprint }) =>
      `  - {name: ${name}, address: ${address}, groups: [lab], fingerprint: '${fingerprint}'}\n`,
  );
  const { spec } = await readJob();
  const { runAsUser } = spec.template.spec.securityContext;
  const [container] = spec.template.spec.containers;
  const shared = join(folder, 'shared');
  for (const name of ['config/devsh', 'plans', 'results']) {
    await mkdir(join(shared, name), { recursive: true });
  }
  await mkdir(join(folder, 'login'));
  await writeFile(join(shared, 'config/devsh/devices.yaml'), `devices:\n${inventory.join('')}`);
  await writeFile(
    join(folder, 'change.yaml'),
    '- add: user\n  fields: {username: zoe, lang: de}\n',
  );
  const shards = Array.from({ length: spec.completions }, (_, index) => index + 1);
  const plans = shards.map((shard) => join(shared, `plans/${shard}.plan`));
  for (const [index, plan] of plans.entries()) {
    const part = `${index + 1}/${spec.completions}`;
    await run('devsh', ['plan', 'change.yaml', '--on', '@lab', '--shard', part, '-o', plan]);
  }
  // The folders of the pod; it starts in the one above them.
  const line = container.args[0].replace(/(?<=[ "])\/(?=shared|login)/g, '');
  const env = Object.fromEntries(
    container.env.map(({ name: variable, value }) => [variable, join(folder, value)]),
  );
  const pod = await startAsUid(runAsUser, folder);
  const own = (shard: number) =>
    devices.filter(({ address }) => isInShard(address, { index: shard, total: shards.length }));
  for (const shard of shards) {
    const [first, ...others] = own(shard);
    await writeFile(join(folder, 'login/token'), `${first?.accounts.admin.token ?? 'none'}\n`);
    const { code, stderr } = await pod([...container.command, line], {
      ...env,
      JOB_COMPLETION_INDEX: String(shard - 1),
    });
    // Each simulated device has its own token: the further devices of a shard refuse.
    expect([shard, code], stderr).toEqual([shard, others.length === 0 ? 0 : 3]);
    const result = await readFile(join(shared, `results/${shard}.jsonl`), 'utf8');
    if (IS_ROOT) expect(result).toContain(`"by":"uid${runAsUser}@`);
  }
  const files = shards.map((shard) => join(shared, `results/${shard}.jsonl`));
  const merge = await run('devsh', [
    ...['runs', 'merge', ...files],
    ...plans.flatMap((plan) => ['--plan', plan]),
  ]);
  const done = shards.filter((shard) => own(shard).length > 0).length;
  expect(merge.stdout).toContain(`${done} done`);
  for (const { name } of shards.flatMap((shard) => own(shard).slice(1))) {
    expect(merge.stdout).toContain(name);
  }
});

/** Four shards of so many devices; 2,000 in `npm run test:long`. */
const DEVICES = isLong ? 2000 : 60;

test(
  `four shards over ${DEVICES} devices, one killed and started again, the inventory changed in between: nothing is lost or done twice`,
  { timeout: 60_000 + DEVICES * 300 },
  async () => {
    const { folder, devices, writes } = await startLab({ devices: DEVICES });
    const total = 4;
    const shards = Array.from({ length: total }, (_, index) => index + 1);
    const own = (shard: number) =>
      devices.filter(({ address }) => isInShard(address, { index: shard, total }));
    const know = async (known: typeof devices): Promise<void> => {
      const entries = known.map(
        ({ name, address, fingerprint }) =>
          `  - {name: ${name}, address: ${address}, groups: [lab], fingerprint: '${fingerprint}'}\n`,
      );
      await writeFile(join(folder, 'config/devsh/devices.yaml'), `devices:\n${entries.join('')}`);
    };
    const file = (shard: number, kind: string) => join(folder, `${shard}.${kind}`);
    // Each pod has a home of its own, without pins.
    const pod = (shard: number, ...argv: readonly string[]) =>
      startProgram(argv, join(folder, `pod${shard}`), '', {
        XDG_CONFIG_HOME: join(folder, 'config'),
      });
    const change = join(folder, 'change.yaml');
    await writeFile(change, '- add: user\n  fields: {username: zoe, lang: de}\n');
    const plan = (shard: number) =>
      pod(
        shard,
        'plan',
        change,
        '--on',
        '@lab',
        '--shard',
        `${shard}/${total}`,
        '-o',
        file(shard, 'plan'),
      );
    await know(devices);
    for (const shard of [1, 2]) expect((await plan(shard).ended).code).toBe(0);
    // Another order, and one device less.
    const [removed] = own(4);
    const left = devices.filter((device) => device !== removed).toReversed();
    await know(left);
    for (const shard of [3, 4]) expect((await plan(shard).ended).code).toBe(0);

    const apply = (shard: number) =>
      pod(
        shard,
        'apply',
        file(shard, 'plan'),
        '--result',
        file(shard, 'jsonl'),
        '--yes',
        '--quiet',
      );
    const second = apply(2);
    const others = [1, 3, 4].map((shard) => apply(shard).ended);
    const written = (): number => own(2).filter(({ log }) => log.some(isPost)).length;
    await waitUntil(() => written() >= own(2).length / 3, second);
    second.child.kill('SIGKILL');
    expect((await second.ended).signal).toBe('SIGKILL');
    expect((await Promise.all(others)).map(({ code }) => code)).toEqual([0, 0, 0]);
    const again = await apply(2).ended;
    expect(again.code, again.stdout).toBe(0);

    const plans = shards.flatMap((shard) => ['--plan', file(shard, 'plan')]);
    const results = shards.map((shard) => file(shard, 'jsonl'));
    const merge = await pod(1, 'runs', 'merge', ...results, ...plans).ended;
    expect(merge.stdout.endsWith(`\n${left.length} done\n`), merge.stderr).toBe(true);
    expect(merge.code).toBe(0);
    expect(writes()).toBe(left.length);
    for (const device of devices) {
      const zoe = device.users.filter(({ username }) => username === 'zoe');
      expect(zoe).toHaveLength(device === removed ? 0 : 1);
    }
  },
);

function isPost({ method }: { readonly method: string }): boolean {
  return method === 'POST';
}
