import fs from 'node:fs';
import { chmod, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startFleet } from './devsh.ts';

interface Line {
  readonly device: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly ms: { readonly connect?: number; readonly latency: number; readonly total: number };
}

async function linesIn(path: string): Promise<Line[]> {
  const [head = '', ...lines] = (await readFile(path, 'utf8')).trim().split('\n');
  expect(JSON.parse(head)).toEqual({ schema: 'devsh-trace/1' });
  return lines.map((line) => JSON.parse(line) as Line);
}

test('a trace has the facts of each request, and no body, login or secret', async () => {
  const { devsh } = await startFleet();
  const path = join(devsh.folder, 'trace.jsonl');
  const add = 'user add username=zoe first_name=Zoe lastname=Z lang=de password=hunter2 --yes';
  await devsh(`${add} --on sim1 --trace ${path}`);
  const written = await linesIn(path);
  expect(written.map(({ method }) => method)).toEqual(expect.arrayContaining(['GET', 'POST']));
  expect(written.at(-1)).toMatchObject({
    device: 'sim1',
    status: 200,
    tls: { version: 'TLSv1.3', cipher: expect.stringContaining('TLS_') as string, trust: 'pinned' },
    headers: {
      sent: expect.arrayContaining(['authorization', 'user-agent']) as string[],
      received: expect.arrayContaining(['content-type']) as string[],
    },
  });
  const [{ ms }] = written as [Line];
  expect(ms.connect).toBeGreaterThan(0);
  expect(ms.total).toBeGreaterThanOrEqual(Math.max(ms.connect ?? 0, ms.latency));
  expect((await stat(path)).mode & 0o777).toBe(0o600);

  await devsh(`get /api/user/?token=hunter2&lang=de --on sim1 --trace ${path}`);
  const both = await linesIn(path);
  expect(both.length).toBeGreaterThan(written.length);
  expect(both.at(-1)?.path).toBe('/api/user/?token=***&lang=de');
  expect(await readFile(path, 'utf8')).not.toMatch(/hunter2|admin-secret|YWRtaW46|Zoe/);
});

test('a device that does not respond is in the trace with the reason', async () => {
  const { devsh } = await startFleet();
  const path = join(devsh.folder, 'trace.jsonl');
  await devsh(`user list --on 127.0.0.1:1 --insecure --trace ${path}`);
  expect((await linesIn(path))[0]).toMatchObject({ error: 'refused', tls: { trust: 'insecure' } });
});

test('a file that is no trace, and a link, are refused and stay as they are', async () => {
  const { devsh, device } = await startFleet();
  const [foreign, link] = [join(devsh.folder, 'notes.txt'), join(devsh.folder, 'link')];
  await writeFile(foreign, 'my notes\n');
  await chmod(foreign, 0o644);
  await symlink(join(devsh.folder, 'elsewhere'), link);
  for (const path of [foreign, link, devsh.folder]) {
    const { exitCode, stderr } = await devsh(`user list --on sim1 --trace ${path}`);
    expect(stderr).toContain(path);
    expect(exitCode).not.toBe(0);
  }
  expect(await readFile(foreign, 'utf8')).toBe('my notes\n');
  expect((await stat(foreign)).mode & 0o777).toBe(0o644);
  expect(device(1).log).toEqual([]);
});

test('a full disk ends the trace, is reported once, and the command goes on', async () => {
  const { devsh } = await startFleet({ devices: 2 });
  const path = join(devsh.folder, 'trace.jsonl');
  const line = `user list --on sim1,sim2 --trace ${path}`;
  expect(await devsh(line)).toMatchObject({ exitCode: 0, stderr: '' });
  const before = await readFile(path, 'utf8');
  const writeSync = vi.spyOn(fs, 'writeSync').mockImplementation(() => {
    throw Object.assign(new Error('write'), { code: 'ENOSPC' });
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    writeSync.mockRestore();
    syncBuiltinESMExports();
  });
  const { exitCode, stderr, stdout } = await devsh(line);
  expect(exitCode).toBe(0);
  expect(stdout).toContain('admin');
  expect(stderr.match(/the trace ends here: .*no space left/g)).toHaveLength(1);
  expect(await readFile(path, 'utf8')).toBe(before);
});
