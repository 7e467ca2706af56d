import { pathWithout } from '../../device/encode.ts';
import { type Plan, recordName } from '../../change/plan.ts';
import { headerOf } from '../../device/credential.ts';
import type { Profile } from '../../device/profile.ts';
import { type DeviceRef, jsonText } from '../../device/record.ts';
import type { ProxyServer, Route } from '../../device/route/route.ts';
import { maskedPath, maskedRecord, maskedValue } from '../../device/sensitive-fields.ts';
import { MASK } from '../../text/one-line.ts';
import { hasUnsafe, replaceUnsafe, visible } from '../../text/visible.ts';
import type { Step } from '../../change/step.ts';
import type { About } from '../../change/verdict.ts';

/** How to reach and log in to a device, and the headers that it requires. */
export interface Connection {
  /** Undefined if curl connects as it does by itself. */
  readonly route?: Route | undefined;
  readonly headers?: Profile['headers'];
  /** How the device accepts a token; undefined for the usual way. */
  readonly auth?: Profile['auth'];
}

/** The environment variables of the secrets, by field and record: `FIELD_PASSWORD`. */
type Variables = Map<string, { readonly name: string; readonly of: string }>;

/**
 * The requests of a plan, in its order, as a bash script of curl calls without secrets. The login and masked fields
 * come from the environment, and reach curl through pipes, because every user of a machine can see arguments.
 *
 * @param line the line of the plan
 * @param connections by address
 */
export function curlScript(
  line: string,
  { devices }: Pick<Plan, 'devices'>,
  connections: ReadonlyMap<string, Connection>,
): string {
  const variables: Variables = new Map();
  const used = devices.map(({ device }) => connections.get(device.address) ?? {});
  const lines = devices.flatMap(({ device, steps, settled, error }, index) => [
    ...(error === undefined ? [] : ['', comment(`cannot be planned: ${error.message}`)]),
    ...settled.flatMap((result) => [
      '',
      comment(`${titleOf(device, result)}: ${result.verdict}, nothing to send`),
    ]),
    ...steps.flatMap((step) => callLines(device, step, used[index] ?? {}, variables)),
  ]);
  const needed = [...variables.values()];
  return [
    '#!/usr/bin/env bash',
    comment(line),
    '#',
    '# Sends them one after the other; exits with 1 if one of them failed. Needs curl 7.76.',
    '# devsh reads every record back; this script does not.',
    '#',
    '# Environment:',
    '#   DEVSH_TOKEN, or DEVSH_USER and DEVSH_PASSWORD   the login, for all devices',
    '#   CURL_OPTS   more options for each call. devsh trusts a device by the SHA-256 of its',
    '#               certificate, curl by a CA: CURL_OPTS="--cacert FILE" (a self-signed',
    '#               certificate is its own CA). "-k" trusts anyone: use it only in a lab.',
    ...needed.map(({ name, of }) => comment(`  ${name}   ${of}`)),
    '',
    'set -u',
    ...(used.every(({ auth }) => auth?.login) ? [] : LOGIN_CHECK),
    ...needed.map(({ name }) => `: "\${${name}:?see the head of this script}"`),
    '',
    'login() {',
    '  if [ -n "${DEVSH_TOKEN:-}" ]; then',
    `    printf '%s%s\\n' "\${1:-Authorization: Token }" "$DEVSH_TOKEN"`,
    '  else',
    `    printf 'Authorization: Basic %s\\n' \\`,
    `      "$(printf '%s' "$DEVSH_USER:$DEVSH_PASSWORD" | base64 | tr -d '\\n')"`,
    '  fi',
    '}',
    '',
    ...(used.some(({ route }) => route?.kind === 'proxy' && route.proxy.login() !== undefined)
      ? PROXY_LOGIN
      : []),
    '# Without quotes, so that each word of CURL_OPTS is an option.',
    'options=(--silent --show-error --fail-with-body --globoff --path-as-is --max-time 30',
    `  --write-out '\\n' \${CURL_OPTS:-})`,
    `accept=(--header 'Accept: application/json, */*;q=0.1')`,
    'status=0',
    ...lines,
    '',
    'exit "$status"',
    '',
  ].join('\n');
}

const LOGIN_CHECK = [
  'if [ -z "${DEVSH_TOKEN:-}" ]; then',
  '  : "${DEVSH_USER:?set it, or DEVSH_TOKEN}" "${DEVSH_PASSWORD:?set it, or DEVSH_TOKEN}"',
  'fi',
];

/** The bash function that prints a proxy login for curl's configuration: quoted, with backslash escapes. */
const PROXY_LOGIN = [
  'proxy_login() {',
  '  local word=${1//\\\\/\\\\\\\\}',
  `  printf 'proxy-user = "%s"\\n' "\${word//\\"/\\\\\\"}"`,
  '}',
  '',
];

function titleOf({ name }: DeviceRef, step: About): string {
  return `${name}: ${step.action} ${recordName(step)}`;
}

function callLines(
  device: DeviceRef,
  step: Step,
  { route, headers = {}, auth }: Connection,
  variables: Variables,
): string[] {
  const { method, form, json } = step.request;
  const named = (name: string): string | undefined =>
    Object.entries(headers).find(([own]) => own.toLowerCase() === name)?.[1];
  const others = Object.entries(headers).filter(([name]) => !/^content-type$/i.test(name));

  const { ifMatch, ifAbsent, secretName } = step.request;
  const nameOf = (field: string): string => variableFor(variables, field, recordName(step));
  const path = pathWithout(secretName, step.request.path, () => `\0${nameOf(step.keyField)}\0`);
  // In a URL, the zone of an IPv6 address (`%eth0`) is `%25eth0` (RFC 6874).
  const host = device.address.replaceAll('%', '%25');
  const proxy = route?.kind === 'proxy' ? route.proxy : undefined;
  const headerWords = [
    ...(named('accept') === undefined ? ['"${accept[@]}"'] : []),
    ...others.map(([name, value]) => `--header ${quoted(`${name}: ${value}`)}`),
  ].join(' ');
  return [
    '',
    comment(titleOf(device, step)),
    ...(route?.kind === 'jump'
      ? [
          `# curl has no jump hosts: use "ssh -L" to ${visible(route.jump.text)}, and --connect-to in CURL_OPTS`,
        ]
      : []),
    `curl "\${options[@]}" ${headerWords} --header @<(${loginCommand(device, auth, variables)}) --request ${method} \\`,
    ...(proxy === undefined ? [] : [`  ${proxyArguments(proxy, variables)} \\`]),
    ...(ifMatch === undefined ? [] : [`  --header ${quoted(`If-Match: ${ifMatch}`)} \\`]),
    ...(ifAbsent === true ? [`  --header 'If-None-Match: *' \\`] : []),
    ...(form ?? []).map((pair) => `  ${dataArgument(pair, nameOf)} \\`),
    ...(json === undefined
      ? []
      : [
          `  --header ${quoted(`Content-Type: ${named('content-type') ?? 'application/json'}`)} \\`,
          `  --data-raw ${quoted(jsonText(maskedRecord(json)))} \\`,
        ]),
    `  ${urlArgument(`https://${host}${path}`, nameOf)} || status=1`,
  ];
}

/** The command that prints the header of the login, with a token or a session from the environment. */
function loginCommand(device: DeviceRef, auth: Connection['auth'], variables: Variables): string {
  if (auth === undefined) return 'login';
  const { header = 'Authorization', login } = auth;
  if (login === undefined) return `login ${quoted(`${header}: ${headerOf('', auth, 'Token')}`)}`;
  const [, cookie] = /cookie:(\S+)$/.exec(login.tokenIn) ?? [];
  const before =
    cookie === undefined ? `${header}: ${headerOf('', auth, 'Bearer')}` : `Cookie: ${cookie}=`;
  const of = `a session of ${device.name}, which POST ${login.path} begins`;
  const name = newVariable(variables, JSON.stringify(['session', device.address]), 'SESSION', of);
  return `printf '%s%s\\n' ${quoted(before)} "$${name}"`;
}

/** The arguments for a proxy. They override NO_PROXY of the environment. The login comes through a pipe. */
function proxyArguments(proxy: ProxyServer, variables: Variables): string {
  const words = [`--noproxy '' --proxy ${quoted(proxy.url)}`];
  if (proxy.login() !== undefined) {
    const id = JSON.stringify(['proxy', proxy.url]);
    const name = newVariable(variables, id, 'PROXY_LOGIN', `USER:PASSWORD of ${proxy.url}`);
    words.push(`--config <(proxy_login "$${name}")`);
  }
  return words.join(' ');
}

function dataArgument(
  [field, text]: readonly [field: string, text: string],
  nameOf: (field: string) => string,
): string {
  // curl encodes only the value.
  const name = new URLSearchParams([[field, '']]).toString().slice(0, -1);
  if (maskedValue(field, text) === MASK) {
    return `--data-urlencode ${quoted(`${name}@`)}<(printf '%s' "$${nameOf(field)}")`;
  }
  // curl drops the "=" if the name is empty, and no argument can contain a NUL.
  return name === '' || text.includes('\0')
    ? `--data-raw ${quoted(new URLSearchParams([[field, text]]).toString())}`
    : `--data-urlencode ${quoted(`${name}=${text}`)}`;
}

/** The variable of a secret. Two users have two passwords, but one user has the same on all devices. */
function variableFor(variables: Variables, field: string, owner: string): string {
  const plain = `FIELD_${field.toUpperCase().replace(/[^A-Z0-9]+/g, '_')}`;
  return newVariable(variables, JSON.stringify([field, owner]), plain, `the ${field} of ${owner}`);
}

function newVariable(variables: Variables, id: string, plain: string, of: string): string {
  const known = variables.get(id);
  if (known) return known.name;
  const taken = new Set([...variables.values()].map(({ name }) => name));
  let name = plain;
  for (let count = 2; taken.has(name); count += 1) name = `${plain}_${count}`;
  variables.set(id, { name, of });
  return name;
}

/** The argument for a URL. If its query has secrets, it comes through a pipe, and variables contain them encoded. */
function urlArgument(url: string, nameOf: (field: string) => string): string {
  if (maskedPath(url) === url && !url.includes('\0')) return quoted(url);
  const escaped = url.replace(/["\\]/g, '\\$&');
  const parts = maskedPath(escaped, (field) => `\0${nameOf(field)}\0`).split('\0');
  const words = parts.map((part, index) => (index % 2 === 0 ? quoted(part) : `"$${part}"`));
  return `--config <(printf 'url = "%s"\\n' ${words.join('')})`;
}

/** A text as one word for bash, with invisible characters as the bytes of their UTF-8 form. */
function quoted(text: string): string {
  if (!hasUnsafe(text)) return `'${text.replaceAll("'", `'\\''`)}'`;
  return `$'${replaceUnsafe(text.replace(/['\\]/g, '\\$&'), bytesOf)}'`;
}

/** The bytes as escapes of three octal digits. In hexadecimal ones, bash would include the digits that follow. */
function bytesOf(character: string): string {
  return Array.from(Buffer.from(character, 'utf8'))
    .map((byte) => `\\${byte.toString(8).padStart(3, '0')}`)
    .join('');
}

function comment(text: string): string {
  return `# ${visible(text)}`;
}
