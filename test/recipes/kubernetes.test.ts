import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { IS_ROOT, startAsUid } from '../main/no-account.ts';
import { recipe, startLab } from './lab.ts';

const name = z.string().regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/);
const count = z.number().int().positive();

/** The schema of batch/v1 for the fields that the manifest uses. */
const job = z.strictObject({
  apiVersion: z.literal('batch/v1'),
  kind: z.literal('Job'),
  metadata: z.strictObject({ name }),
  spec: z.strictObject({
    completionMode: z.literal('Indexed'),
    completions: count,
    parallelism: count,
    backoffLimitPerIndex: z.number().int().nonnegative(),
    maxFailedIndexes: count,
    activeDeadlineSeconds: count,
    podFailurePolicy: z.strictObject({
      rules: z
        .array(
          z.union([
            z.strictObject({
              action: z.enum(['FailJob', 'FailIndex', 'Ignore', 'Count']),
              onExitCodes: z.strictObject({
                containerName: name,
                operator: z.enum(['In', 'NotIn']),
                values: z.array(z.number().int().min(1).max(255)).min(1).max(255),
              }),
            }),
            z.strictObject({
              action: z.enum(['FailJob', 'FailIndex', 'Ignore', 'Count']),
              onPodConditions: z.array(z.strictObject({ type: z.string() })).max(20),
            }),
          ]),
        )
        .max(20),
    }),
    template: z.strictObject({
      spec: z.strictObject({
        // podFailurePolicy needs this policy.
        restartPolicy: z.literal('Never'),
        terminationGracePeriodSeconds: count,
        automountServiceAccountToken: z.boolean(),
        securityContext: z.strictObject({
          runAsNonRoot: z.literal(true),
          runAsUser: count,
          fsGroup: count,
          seccompProfile: z.strictObject({ type: z.literal('RuntimeDefault') }),
        }),
        containers: z.tuple([
          z.strictObject({
            name,
            image: z.string(),
            command: z.tuple([z.literal('sh'), z.literal('-c')]),
            args: z.tuple([z.string()]),
            env: z.array(z.strictObject({ name: z.string(), value: z.string() })),
            securityContext: z.strictObject({
              allowPrivilegeEscalation: z.literal(false),
              readOnlyRootFilesystem: z.literal(true),
              capabilities: z.strictObject({ drop: z.tuple([z.literal('ALL')]) }),
            }),
            resources: z.strictObject({
              requests: z.record(z.string(), z.string()),
              limits: z.record(z.string(), z.string()),
            }),
            volumeMounts: z.array(
              z.strictObject({
                name,
                mountPath: z.string().startsWith('/'),
                readOnly: z.boolean().optional(),
              }),
            ),
          }),
        ]),
        volumes: z.array(
          z.union([
            z.strictObject({ name, configMap: z.strictObject({ name }) }),
            z.strictObject({
              name,
              secret: z.strictObject({
                secretName: name,
                defaultMode: z.number().int().max(0o777),
              }),
            }),
            z.strictObject({ name, persistentVolumeClaim: z.strictObject({ claimName: name }) }),
            z.strictObject({ name, emptyDir: z.strictObject({}) }),
          ]),
        ),
      }),
    }),
  }),
});

async function readJob(): Promise<z.infer<typeof job>> {
  // Kubernetes reads YAML 1.1, where 0440 is octal.
  const text = await readFile(recipe('kubernetes-job.yaml'), 'utf8');
  return job.parse(parse(text, { version: '1.1' }));
}

test('the manifest is a valid Indexed Job, and fails a shard whose login is refused', async () => {
  const { spec } = await readJob();
  const [container] = spec.template.spec.containers;
  const mounts = container.volumeMounts.map((mount) => mount.name);
  expect(mounts).toEqual(spec.template.spec.volumes.map((volume) => volume.name));
  expect(container.args[0]).toContain(
    `--shard "$((JOB_COMPLETION_INDEX + 1))/${spec.completions}"`,
  );
  const [refused] = spec.podFailurePolicy.rules;
  expect(refused).toMatchObject({
    action: 'FailIndex',
    onExitCodes: { containerName: container.name },
  });
  expect(refused).toHaveProperty('onExitCodes.values', expect.arrayContaining([4]));
});

test('the pods of the manifest apply a plan, each its shard, as a uid without an account', async () => {
  const { folder, devices, run } = await startLab({ devices: 6 });
  const inventory = devices.map(
    ({ name, address }) =>
      `  - {name: ${name}, address: ${address}, groups: [lab], ca: site-ca.pem}\n`,
  );
  await writeFile(join(folder, 'config/devsh/devices.yaml'), `devices:\n${inventory.join('')}`);
  await writeFile(
    join(folder, 'config/devsh/site-ca.pem'),
    devices.map(({ certificate }) => certificate).join(''),
  );
  await writeFile(
    join(folder, 'change.yaml'),
    '- add: user\n  fields: {username: zoe, lang: de}\n',
  );
  for (const name of ['plan', 'login', 'results', 'scratch']) await mkdir(join(folder, name));
  await run('devsh', ['plan', 'change.yaml', '--on', '@lab', '-o', 'plan/monday.plan']);
  const { spec } = await readJob();
  const { runAsUser } = spec.template.spec.securityContext;
  const [container] = spec.template.spec.containers;
  // The folders of the pod; it starts in the one above them.
  const line = container.args[0].replace(/(?<=[ "])\/(?=plan|results|login)/g, '');
  const env = Object.fromEntries(
    container.env.map(({ name: variable, value }) => [variable, join(folder, value)]),
  );
  const pod = await startAsUid(runAsUser, folder);
  for (let index = 0; index < spec.completions; index += 1) {
    const token = devices[index]?.accounts.admin.token ?? '';
    await writeFile(join(folder, 'login/token'), `${token}\n`);
    const { code, stderr } = await pod([...container.command, line], {
      ...env,
      JOB_COMPLETION_INDEX: String(index),
    });
    // Each simulated device has its own token: the second device of a shard refuses.
    const expected = devices[index + spec.completions] === undefined ? 0 : 3;
    expect([index, code], stderr).toEqual([index, expected]);
    const result = await readFile(join(folder, `results/${index}.jsonl`), 'utf8');
    if (IS_ROOT) expect(result).toContain(`"by":"uid${runAsUser}@`);
  }
  const files = [0, 1, 2, 3].map((index) => `results/${index}.jsonl`);
  const merge = await run('devsh', ['runs', 'merge', ...files, '--plan', 'plan/monday.plan']);
  expect(merge.stdout).toMatch(
    /4 done · not covered: sim5, sim6 \(refused the login\) · pending there\n$/,
  );
});
