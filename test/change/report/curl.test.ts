import { execFile, spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { curlReport } from '../../../src/change/report/curl.ts';
import { visibleLines } from '../../../src/text/visible.ts';
import type { SimulatedDevice } from '../../../src/simulator/simulator.ts';
import { ADMIN, startFleet } from '../../main/devsh.ts';
import { exampleReport } from './example.ts';
import { hostileTexts } from './hostile.ts';
import { rounds } from '../../rounds.ts';

const has = (program: string): boolean => spawnSync(program, ['--version']).status === 0;
const hasBash = has('bash');
const canSend = hasBash && has('curl');

/** Half a character has no UTF-8 form and is replaced on the way. */
const wellFormed = (text: string): string => Buffer.from(text).toString();

/** The argument for one pair: the name encoded, the value unchanged if possible. */
function pairArguments(field: string, value: string): string[] {
  const pair = new URLSearchParams([[field, value]]).toString();
  const [name = ''] = pair.split('=');
  return name === '' || value.includes('\0')
    ? ['--data-raw', pair]
    : ['--data-urlencode', `${name}=${wellFormed(value)}`];
}

/** All fields but the id, which each device assigns. */
function zoeOf(device: SimulatedDevice | undefined): object | undefined {
  const user = device?.users.find(({ username }) => username === 'zoe');
  return user && { ...user, uuid: undefined };
}

interface Ended {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a script from standard input, so that the devices in this process can respond meanwhile. */
function bash(script: string, env: NodeJS.ProcessEnv, ...args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    const { PATH } = process.env;
    const options = { env: { PATH, LC_ALL: 'C', ...env }, encoding: 'utf8' } as const;
    const child = execFile('bash', [...args], options, (error, stdout, stderr) => {
      resolve({ exitCode: typeof error?.code === 'number' ? error.code : 0, stdout, stderr });
    });
    child.stdin?.end(script);
  });
}

test('has the requests in order, those never sent as comments, secrets as variables', () => {
  expect(curlReport(exampleReport())).toMatchInlineSnapshot(`
    "#!/usr/bin/env bash
    # The requests of devsh run 20261121-093041-k3qd7m as curl calls
    # user set carol lang=de password=…
    # began 2026-11-21T09:30:41.000Z by lea@desk; stopped: one device differs
    #
    # Sends them one after the other; exits with 1 if one of them failed. Needs curl 7.76.
    # devsh reads every record back; this script does not.
    #
    # Environment:
    #   DEVSH_TOKEN, or DEVSH_USER and DEVSH_PASSWORD   the login, for all devices
    #   CURL_OPTS   more options for each call. devsh trusts a device by the SHA-256 of its
    #               certificate, curl by a CA: CURL_OPTS="--cacert FILE" (a self-signed
    #               certificate is its own CA). "-k" trusts anyone: use it only in a lab.
    #   FIELD_PASSWORD   the password of user carol

    set -u
    if [ -z "\${DEVSH_TOKEN:-}" ]; then
      : "\${DEVSH_USER:?set it, or DEVSH_TOKEN}" "\${DEVSH_PASSWORD:?set it, or DEVSH_TOKEN}"
    fi
    : "\${FIELD_PASSWORD:?see the head of this script}"

    login() {
      if [ -n "\${DEVSH_TOKEN:-}" ]; then
        printf '%s%s\\n' "\${1:-Authorization: Token }" "$DEVSH_TOKEN"
      else
        printf 'Authorization: Basic %s\\n' \\
          "$(printf '%s' "$DEVSH_USER:$DEVSH_PASSWORD" | base64 | tr -d '\\n')"
      fi
    }

    # Without quotes, so that each word of CURL_OPTS is an option.
    options=(--silent --show-error --fail-with-body --globoff --path-as-is --max-time 30
      --write-out '\\n' \${CURL_OPTS:-})
    accept=(--header 'Accept: application/json, */*;q=0.1')
    status=0

    # fw1: set user carol: done
    curl "\${options[@]}" "\${accept[@]}" --header @<(login) --request POST \\
      --data-urlencode 'uuid=6f1c-1' \\
      --data-urlencode 'lang=de' \\
      --data-urlencode 'password@'<(printf '%s' "$FIELD_PASSWORD") \\
      'https://10.0.0.1:443/api/user/' || status=1

    # fw2: set user carol: done
    curl "\${options[@]}" "\${accept[@]}" --header @<(login) --request POST \\
      --data-urlencode 'uuid=6f1c-2' \\
      --data-urlencode 'lang=de' \\
      --data-urlencode 'password@'<(printf '%s' "$FIELD_PASSWORD") \\
      'https://10.0.0.2:443/api/user/' || status=1

    # fw3: set user carol: differs
    curl "\${options[@]}" "\${accept[@]}" --header @<(login) --request POST \\
      --data-urlencode 'uuid=6f1c-3' \\
      --data-urlencode 'lang=de' \\
      --data-urlencode 'password@'<(printf '%s' "$FIELD_PASSWORD") \\
      'https://10.0.0.3:443/api/user/' || status=1

    # fw4: set user carol: failed, nothing was sent

    # fw5: set user carol: skipped, not sent:
    #   curl "\${options[@]}" "\${accept[@]}" --header @<(login) --request POST \\
    #     --data-urlencode 'uuid=6f1c-5' \\
    #     --data-urlencode 'lang=de' \\
    #     --data-urlencode 'password@'<(printf '%s' "$FIELD_PASSWORD") \\
    #     'https://10.0.0.5:443/api/user/' || status=1

    exit "$status"
    "
  `);
});

test('gives the secrets of two records two variables', () => {
  const [carol, dave] = [exampleReport(), exampleReport({ key: 'dave' })];
  const script = curlReport({ ...carol, devices: [...carol.devices, ...dave.devices] });

  expect(script).toContain('#   FIELD_PASSWORD   the password of user carol\n');
  expect(script).toContain('#   FIELD_PASSWORD_2   the password of user dave\n');
});

describe.skipIf(!hasBash)(`bash${hasBash ? '' : ' (skipped: there is no bash here)'}`, () => {
  test('passes exactly the texts of the run to curl, whatever they are', async () => {
    const env = { ...ADMIN, FIELD_PASSWORD: 'S3cret!' };
    // A stand-in for curl that prints its arguments, and the content of pipes.
    const spy = `curl() { local a; for a in "$@"; do
      case $a in @/dev/fd/*|password@/dev/fd/*) printf '%s:%s\\0' "\${a%%@*}" "$(< "\${a#*@}")" ;;
      *) printf '%s\\0' "$a" ;; esac; done; }\n`;
    await fc.assert(
      fc.asyncProperty(hostileTexts, async (texts) => {
        const script = curlReport(exampleReport(texts));
        expect(visibleLines(script)).toBe(script);
        expect(script).not.toContain('S3cret');

        const { stdout, stderr, exitCode } = await bash(spy + script, env);
        const calls = stdout.split('--silent\0').slice(1);

        expect({ exitCode, stderr, calls: calls.length }).toEqual({
          ...{ exitCode: 0, stderr: '', calls: 3 },
        });
        for (const [index, call] of calls.entries()) {
          const words = call.split('\0').slice(0, -1);
          const at = words.indexOf('--request');
          expect(words.slice(at)).toEqual([
            ...['--request', 'POST', '--data-urlencode', `uuid=6f1c-${index + 1}`],
            ...pairArguments(texts.field, texts.value),
            ...[
              '--data-urlencode',
              'password:S3cret!',
              `https://10.0.0.${index + 1}:443/api/user/`,
            ],
          ]);
        }
      }),
      { numRuns: rounds(60) },
    );
  });

  test('accepts the script, and sends nothing without a login', async () => {
    const script = curlReport(exampleReport());

    expect(await bash(script, {}, '-n')).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    expect(await bash(script, {})).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('DEVSH_USER: set it, or DEVSH_TOKEN') as string,
    });
  });
});

describe.skipIf(!canSend)(`curl${canSend ? '' : ' (skipped: no curl or no bash here)'}`, () => {
  test('makes the same change that devsh made', async () => {
    const { devsh, devices } = await startFleet({ devices: 2 });
    const fields = ['username=zoe', `first_name=Zoë "O'Neil" & <b>+%41`, 'lang=de'];
    await devsh(['user', 'add', ...fields, '--on', '@lab', '--yes']);
    const expected = devices.map(zoeOf);
    const script = (await devsh('report --as curl')).stdout;
    await devsh('undo --yes');
    expect(devices.map(zoeOf)).toEqual([undefined, undefined]);

    const { exitCode, stderr } = await bash(script, { ...ADMIN, CURL_OPTS: '-k' });

    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(devices.map(zoeOf)).toEqual(expected);
    expect(expected[0]).toMatchObject({ first_name: `Zoë "O'Neil" & <b>+%41` });
  });

  test('deletes records of a device with a token', async () => {
    const { devsh, device } = await startFleet();
    device(1).putUser({ username: 'zoe', lang: 'fr' });
    device(1).setFault('delete-and-keep', 1, { method: 'DELETE' });
    await devsh('user delete zoe --on sim1 --yes');
    const { stdout: script } = await devsh('report --as curl');
    expect(zoeOf(device(1))).toBeDefined();

    const { token } = device(1).accounts.admin;
    const ended = await bash(script, { DEVSH_TOKEN: token, CURL_OPTS: '-k' });

    expect(ended).toMatchObject({ exitCode: 0, stderr: '' });
    expect(zoeOf(device(1))).toBeUndefined();
  });

  test('sends nothing to an untrusted device, and reports that', async () => {
    const { devsh, device, writes } = await startFleet();
    await devsh(['user', 'add', 'username=zoe', 'lang=de', '--on', 'sim1', '--yes']);
    const { stdout: script } = await devsh('report --as curl');
    const before = writes();

    const { exitCode, stderr } = await bash(script, ADMIN);

    expect(exitCode).toBe(1);
    expect(stderr).toContain('certificate');
    expect(writes()).toEqual(before);
    expect(zoeOf(device(1))).toBeDefined();
  });
});
