import { execFile, spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Connection, curlScript } from '../../../src/shell/writing/curl-script.ts';
import { hasUnsafe } from '../../../src/text/visible.ts';
import { ADMIN } from '../../main/devsh.ts';
import { exampleReport, type Texts } from '../../change/example-report.ts';
import { hostileTexts } from '../../change/hostile.ts';
import { rounds } from '../../rounds.ts';

const hasBash = spawnSync('bash', ['--version']).status === 0;

/** The script of the plan of the example. */
function script(texts?: Partial<Texts>, connection: Connection = {}): string {
  const { command, plan } = exampleReport(texts);
  const addresses = plan.devices.map(({ device }) => device.address);
  return curlScript(command, plan, new Map(addresses.map((address) => [address, connection])));
}

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

test('has the requests in order, what sends nothing as comments, secrets as variables', () => {
  expect(script()).toMatchInlineSnapshot(`
    "#!/usr/bin/env bash
    # user set carol lang=de password=…
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

    # fw1: set user carol
    curl "\${options[@]}" "\${accept[@]}" --header @<(login) --request POST \\
      --data-urlencode 'uuid=6f1c-1' \\
      --data-urlencode 'lang=de' \\
      --data-urlencode 'password@'<(printf '%s' "$FIELD_PASSWORD") \\
      'https://10.0.0.1:443/api/user/' || status=1

    # fw2: set user carol
    curl "\${options[@]}" "\${accept[@]}" --header @<(login) --request POST \\
      --data-urlencode 'uuid=6f1c-2' \\
      --data-urlencode 'lang=de' \\
      --data-urlencode 'password@'<(printf '%s' "$FIELD_PASSWORD") \\
      'https://10.0.0.2:443/api/user/' || status=1

    # fw3: set user carol
    curl "\${options[@]}" "\${accept[@]}" --header @<(login) --request POST \\
      --data-urlencode 'uuid=6f1c-3' \\
      --data-urlencode 'lang=de' \\
      --data-urlencode 'password@'<(printf '%s' "$FIELD_PASSWORD") \\
      'https://10.0.0.3:443/api/user/' || status=1

    # cannot be planned: fw4: no answer within 5 s (changed without a request: lang)

    # fw5: set user carol
    curl "\${options[@]}" "\${accept[@]}" --header @<(login) --request POST \\
      --data-urlencode 'uuid=6f1c-5' \\
      --data-urlencode 'lang=de' \\
      --data-urlencode 'password@'<(printf '%s' "$FIELD_PASSWORD") \\
      'https://10.0.0.5:443/api/user/' || status=1

    exit "$status"
    "
  `);
});

test('gives the secrets of two records two variables', () => {
  const [carol, dave] = [exampleReport(), exampleReport({ key: 'dave' })];
  const devices = [...carol.plan.devices, ...dave.plan.devices];
  const text = curlScript('import users.csv', { devices }, new Map());

  expect(text).toContain('#   FIELD_PASSWORD   the password of user carol\n');
  expect(text).toContain('#   FIELD_PASSWORD_2   the password of user dave\n');
});

test('names a jump host, which curl cannot take', () => {
  const jump = { kind: 'jump', jump: { text: 'admin@bastion' } };
  expect(script({}, { route: jump as Connection['route'] })).toContain(
    '\n# curl has no jump hosts: use "ssh -L" to admin@bastion, ',
  );
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
        const text = script(texts);
        expect(hasUnsafe(text.replaceAll('\n', ''))).toBe(false);
        expect(text).not.toContain('S3cret');

        const { stdout, stderr, exitCode } = await bash(spy + text, env);
        const calls = stdout.split('--silent\0').slice(1);

        expect({ exitCode, stderr, calls: calls.length }).toEqual({
          ...{ exitCode: 0, stderr: '', calls: 4 },
        });
        for (const [index, number] of [1, 2, 3, 5].entries()) {
          const call = calls[index] ?? '';
          const words = call.split('\0').slice(0, -1);
          const at = words.indexOf('--request');
          expect(words.slice(at)).toEqual([
            ...['--request', 'POST', '--data-urlencode', `uuid=6f1c-${number}`],
            ...pairArguments(texts.field, texts.value),
            ...['--data-urlencode', 'password:S3cret!', `https://10.0.0.${number}:443/api/user/`],
          ]);
        }
      }),
      { numRuns: rounds(60) },
    );
  });

  test('accepts the script, and sends nothing without a login', async () => {
    const text = script();

    expect(await bash(text, {}, '-n')).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    expect(await bash(text, {})).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('DEVSH_USER: set it, or DEVSH_TOKEN') as string,
    });
  });
});
