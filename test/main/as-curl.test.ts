import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { startHttpProxy, startSocksProxy } from '../device/route/proxies.ts';
import { startFleet, usernames } from './devsh.ts';

const hasCurl = spawnSync('curl', ['--version']).status === 0;

test('a listing as curl calls sends no request', async () => {
  const { devsh, devices } = await startFleet({ devices: 2 });
  const { stdout, exitCode } = await devsh('user list --on sim1,sim2 --as-curl');
  for (const { address, log } of devices) {
    expect(stdout).toContain(`'https://${address}/api/user/'`);
    expect(log).toEqual([]);
  }
  expect(exitCode).toBe(0);
});

test('a write as curl calls is planned and not sent, and contains no secret', async () => {
  const { devsh, device, writes } = await startFleet();
  const line = 'user add username=zoe lang=de password=hush-hush --on sim1 --as-curl';
  const { stdout, stderr, exitCode } = await devsh(line);
  expect(stdout).toContain("--data-urlencode 'username=zoe'");
  expect(stdout).toContain('$FIELD_PASSWORD');
  expect(stdout + stderr).not.toContain('hush-hush');
  expect(writes()).toEqual([]);
  expect(usernames(device(1))).not.toContain('zoe');
  expect(exitCode).toBe(0);
});

test.each(['post /api/user/ a=b', 'delete /api/user/x/', 'get /api/'])(
  '%s as a curl call is not sent either',
  async (line) => {
    const { devsh, device } = await startFleet();
    const { stdout } = await devsh(`${line} --on sim1 --as-curl`);
    expect(spawnSync('bash', ['-n'], { input: stdout }).status).toBe(0);
    expect(device(1).log).toEqual([]);
  },
);

test.skipIf(!hasCurl)('the curl calls of a delete do what devsh would have done', async () => {
  const { devsh, device } = await startFleet();
  const [, , user] = device(1).users;
  const { stdout } = await devsh(`user delete ${user?.username ?? ''} --on sim1 --as-curl`);
  const { username, password } = device(1).accounts.admin;
  // The simulator runs in this process, which must not block.
  const { spawn } = await import('node:child_process');
  const bash = spawn('bash', ['-s'], {
    env: { ...process.env, DEVSH_USER: username, DEVSH_PASSWORD: password, CURL_OPTS: '-k' },
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  bash.stdin.end(stdout);
  expect(await new Promise((resolve) => bash.on('close', resolve))).toBe(0);
  expect(usernames(device(1))).not.toContain(user?.username);
});

test('a secret in the query of a path is a variable, in no argument of curl', async () => {
  const { devsh, device } = await startFleet();
  const line = 'get /api/user/?token=hush-hush&lang=de --on sim1 --as-curl';
  const { stdout, stderr } = await devsh(line);
  expect(stdout + stderr).not.toContain('hush');
  expect(stdout).toContain('# sim1: GET /api/user/?token=***&lang=de');
  expect(stdout).toContain('FIELD_TOKEN   the token of /api/user/?token=***&lang=de');
  if (!hasCurl) return;
  const { username, password } = device(1).accounts.admin;
  const login = { DEVSH_USER: username, DEVSH_PASSWORD: password };
  expect(await bash(stdout, { ...login, FIELD_TOKEN: 'hush-hush' })).toBe(0);
  expect(device(1).log.map(({ path }) => path)).toEqual(['/api/user/?token=hush-hush&lang=de']);
});

test('each device gets its own path and media type', async () => {
  const { devsh } = await startFleet({ devices: 2 });
  await devsh('profile set sim2 accept=application/vnd.api+json resources.user.path=/rest/users');
  const { stdout } = await devsh('user list --on sim1,sim2 --as-curl');
  expect(stdout).toContain("/api/user/'");
  expect(stdout).toContain("/rest/users'");
  expect(stdout.match(/"\$\{accept\[@\]\}" --header/g)).toHaveLength(1);
  expect(stdout.match(/--header 'Accept: application\/vnd\.api\+json'/g)).toHaveLength(1);
});

/** Runs a script without blocking this process, which runs the simulator. */
async function bash(script: string, env: NodeJS.ProcessEnv): Promise<number> {
  const { spawn } = await import('node:child_process');
  const shell = spawn('bash', ['-s'], {
    env: { PATH: process.env['PATH'], CURL_OPTS: '-k', ...env },
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  shell.stdin.end(script);
  return new Promise((resolve) => shell.on('close', resolve));
}

test.skipIf(!hasCurl)('the curl calls take the proxy that devsh takes, and its login', async () => {
  const { devsh, device } = await startFleet();
  const login = { user: 'jane', password: 'a"b\\c$d' };
  const proxy = await startHttpProxy({ login });
  const url = `http://127.0.0.1:${proxy.port}`;
  const secret = `jane:${login.password}`;
  const env = { HTTPS_PROXY: url.replace('//', `//jane:${encodeURIComponent(login.password)}@`) };
  const { stdout } = await devsh(`user list --on sim1 --proxy ${url} --as-curl`, { env });
  expect(stdout).not.toContain(login.password);
  expect(stdout).toContain(`PROXY_LOGIN   USER:PASSWORD of ${url}`);
  const { username, password } = device(1).accounts.admin;
  const own = { DEVSH_USER: username, DEVSH_PASSWORD: password, NO_PROXY: '*' };
  expect(await bash(stdout, { ...own, PROXY_LOGIN: secret })).toBe(0);
  expect(proxy.targets).toEqual([device(1).address]);
});

test.skipIf(!hasCurl)('a SOCKS proxy is taken, too, and a jump host is a remark', async () => {
  const { devsh, device } = await startFleet();
  const proxy = await startSocksProxy();
  const url = `socks5h://127.0.0.1:${proxy.port}`;
  const { stdout } = await devsh(`user list --on sim1 --proxy ${url} --as-curl`);
  const { username, password } = device(1).accounts.admin;
  expect(await bash(stdout, { DEVSH_USER: username, DEVSH_PASSWORD: password })).toBe(0);
  expect(proxy.targets).toHaveLength(1);
  const jump = await devsh('user list --on sim1 --jump admin@bastion --as-curl');
  expect(jump.stdout).toMatch(/^# curl has no jump hosts: use "ssh -L" to admin@bastion/m);
  expect(spawnSync('bash', ['-n'], { input: jump.stdout }).status).toBe(0);
});
