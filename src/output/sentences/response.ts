import { aOrAn, pluralOf, someOf } from '../../text/one-line.ts';

type Names = readonly string[];

/** A question about the address helps only until the device has answered once. */
type Asked = Readonly<{ address: string; wasRead: boolean }>;
const asking = ({ wasRead }: Asked, text: string, question: string): string =>
  wasRead ? text : `${text}. ${question}`;

const ODD_STATUS: Readonly<Record<number, string>> = {
  404: ', not found',
  405: ', method not allowed',
  406: ', the device sends only another media type: profile set DEVICE headers.Accept=TYPE',
  407: ', a proxy in between requires its own login',
  409: ', conflict',
  412: ', the record has changed meanwhile',
  415: ', the device requires another format',
  429: ', too many requests',
};

/** A token whose place may be wrong: how it was sent, what the device wants, and what to try. */
export interface TokenDoubt {
  readonly sent: string;
  /** Undefined if the device does not say. */
  readonly required: string | undefined;
  /** As in `auth.header=X-API-Key`. */
  readonly facts: Names;
}

function tokenText(device: string, doubt: TokenDoubt | undefined): string {
  if (doubt === undefined) return '';
  const { sent, required, facts } = doubt;
  const lines = [
    ...facts.map((fact) => `"profile set ${device} auth.${fact}"`),
    `a password, "login ${device} --user NAME"`,
  ];
  const other = required === undefined ? 'may require another scheme' : `requires ${required}`;
  return `. devsh sent the token as "${sent}"; the device ${other}: try ${lines.join(', or ')}`;
}

function waitText(wait: string | undefined): string {
  if (wait === undefined) return '';
  return /^\d+$/.test(wait) ? `; retry after ${wait} s` : `; retry after: ${wait}`;
}

/** `reason`: empty, or `: ` and the words of the device. */
type Refused = Readonly<{ device: string; reason: string; token?: TokenDoubt | undefined }>;

export const RESPONSE = {
  'login-refused': (found: { who: string; scheme: string | undefined } & Refused) => {
    const { device, who, scheme, reason, token } = found;
    const other = scheme ? `; the device requires ${scheme}, which devsh does not support` : '';
    return `the login was refused (401, ${who})${reason}${other}${tokenText(device, token)}. Try "login ${device}"`;
  },
  forbidden: ({ what, who, device, reason, token }: { what: string; who: string } & Refused) =>
    `${what} is forbidden (403)${reason}. Either ${who} lacks the permission, or the login is wrong: ` +
    `try "login ${device}" with another account${tokenText(device, token)}`,
  'not-modified': '{what} returned 304 (not modified), although devsh sent no condition',
  redirect: {
    read: '{what} returned a redirect ({status}) to {location}: devsh follows redirects only on the same device, and only a few',
    write:
      '{what} returned a redirect ({status}) to {location}: devsh redirects no writes; nothing else was sent',
  },
  refused: (
    found: {
      what: string;
      status: number;
      allow: string | undefined;
      wait: string | undefined;
    } & Refused,
  ) => {
    const { what, status, device, allow, wait, reason, token } = found;
    const meaning = ODD_STATUS[status]?.replace('DEVICE', () => device) ?? '';
    const allowed = allow === undefined ? '' : `; it allows ${allow}`;
    return `${what} was refused (${status}${meaning}${allowed}${waitText(wait)})${reason}${tokenText(device, token)}`;
  },
  'odd-status': (
    found: {
      what: string;
      status: number;
      path: string;
      wait: string | undefined;
      isUnclear: boolean;
    } & Pick<Refused, 'reason'>,
  ) => {
    const { what, status, path, wait, reason, isUnclear } = found;
    const internal = isUnclear
      ? '. The device has an internal error; try again, and check its log'
      : '';
    const remedy = status < 500 ? `. "get ${path} --raw" shows it` : internal;
    return `${what} returned ${status}${waitText(wait)}${reason}${remedy}`;
  },
  declined: '{what} was refused (with status {status}){reason}',
  'no-reason': 'no reason given',
  undecodable: '{what} returned {problem}. "get {path} --raw" shows all of it',
  'no-response': {
    name: 'the name of {address} does not resolve. Check the spelling, or use the IP address',
    refused: (found: Asked) =>
      asking(
        found,
        `${found.address} refuses the connection`,
        'Is its API switched on, and is the port right?',
      ),
    'no route': 'no route to {address}. Check the network, the VPN and the address',
    'connect timeout': (found: Asked) =>
      asking(
        found,
        `no connection to ${found.address} in time`,
        'Is it switched on, and does a firewall let you through?',
      ),
    route: '{detail}',
    tls: (found: Asked & Readonly<{ detail: string }>) =>
      /certificate.required/i.test(found.detail)
        ? `${found.address} wants a client certificate, which devsh cannot send`
        : asking(
            found,
            `no TLS with ${found.address}: ${found.detail}`,
            'Is this the HTTPS port, and does it speak TLS 1.2?',
          ),
    'old tls':
      '{address} offers only TLS 1.1 or older, which is unsafe; devsh does not use it. Update its firmware',
    timeout: '{what}: {detail}',
    'wrong length':
      'the response to {what} does not have the length of its Content-Length, or has two of them',
    'cut off': 'the response to {what} has no length and may be cut off',
    reset: (found: Asked & Readonly<{ what: string; sent: boolean }>) =>
      found.sent
        ? `the connection broke before the response to ${found.what} was complete`
        : asking(
            found,
            `${found.address} closed the connection before it was ready`,
            'Is this the HTTPS port?',
          ),
  },
  retry: {
    again: 'Try again',
    longer: 'Try again, or use a longer --timeout',
    check: 'The device may have executed it: check before you repeat it',
    device: 'the device',
  },
  unusable: {
    'too large': 'the response to {what} is too large: {detail}. devsh used nothing of it',
    malformed: 'the response to {what} is not valid HTTP: {detail}. Is this the right port?',
    encoding: 'the response to {what} cannot be decompressed: {detail}',
  },
  transfer: {
    connect: 'no connection within {seconds} s',
    unused: 'closed before it was used',
    handshake: 'closed before TLS was ready',
    anonymous: 'no certificate was presented',
    'no-tls': 'the reply is not TLS',
    headers: 'its headers are longer than 16 KiB',
    declared: 'Content-Length is {size}',
    size: 'more than {size}',
    unpacked: 'more than {size} unpacked',
    silence: 'no more data within {seconds} s',
    slow: 'no complete response within {seconds} s',
    cancelled: 'cancelled while waiting for the response',
    length: 'the response has no length and may be cut off',
    broken: 'its {name} data is broken, or of a kind that devsh does not know',
  },
  'bad-json': {
    depth: 'JSON nested more than {most} levels deep',
    twice: '{name} appears twice in one object',
    syntax: 'not valid JSON',
    digits: 'JSON with a number of more than {most} digits',
  },
  'bad-body': {
    empty: 'an empty body instead of records',
    html: 'an HTML page instead of records: {title}',
    lines: 'more than {most} lines',
    records: 'more than {most} records',
    format: 'neither JSON nor another known format: {start}',
    controls: 'neither JSON nor another known format: nothing but control characters',
    several: '{count} records instead of one',
    value: 'a single value instead of records',
    place:
      'JSON without "{place}", the place of the records; without list.items devsh looks for them',
    'empty-place': '"{place}" contains no records',
    list: 'JSON without a list of records: {names}',
    lists: 'JSON with several lists: {names}; "profile set DEVICE list.items=PLACE" says which one',
    fields: 'JSON without a list of records: an object without fields',
    items: 'a list with items that are not records',
  },
  'keyed-by-id': 'keyed by id',
  'repeated-name': '{resource}: its JSON has {name} twice in one object; devsh uses the last one',
  'damaged-text': '{what}: the body is not UTF-8; {mark} stands for bytes that are no text',
  'long-wait': '{device} requests a wait of {seconds} s',
  'no-list': (found: {
    refusal: string;
    tried: Names;
    offers: Names;
    resource: string;
    device: string;
  }) => {
    const { refusal, tried, offers, resource, device } = found;
    const also = tried.length === 0 ? '' : `; also tried: ${tried.join(', ')}`;
    const known = offers.length === 0 ? '' : `; the device offers ${someOf(offers)}`;
    const line = `"profile set ${device} resources.${resource}.path=/PATH"`;
    return `${refusal}${also}${known}. Where else its ${pluralOf(resource)} are: ${line}`;
  },
  proposal: {
    attributes: 'every record has its {field} in {value}',
    key: 'not every record has a {field} of its own, and every record has a {value} of its own',
    id: ({ value }: { field: string; value: string }) =>
      value === '[]'
        ? 'no record has an id other than its key; paths then end with the key'
        : `no record has another id; ${value} is unique`,
  },
  tried: { empty: 'an empty list', none: 'no records', status: '{status}' },
  'partial-list': '{path} returned only a part (206), without a way to get the rest',
  'ghost-record': ({ resource }: { resource: string }) =>
    `its list contains ${aOrAn(resource)} that does not exist (404). Try again`,
  'late-details': ({ read, count, resource }: { read: number; count: number; resource: string }) =>
    `only ${read} of ${count} ${pluralOf(resource)} could be read one by one in time. Use a longer --timeout`,
  'deleted-record': '{path} shows a {resource} that is deleted',
  'other-record': '{path} returned another {resource} ({field})',
  'own-path': 'GET of one record',
  pages: {
    unstable:
      '{path} changed while its pages were read, or repeats them, {count} times in a row. Try again',
    missing: '{path} reports {total} records, but returns only {read} and no next page',
    elsewhere: 'the next page of {path} is at another address: {link}',
    loop: 'the pages of {path} form a loop: {link} again',
    endless: '{path} does not end: {count} pages with {read} records so far',
    late: '{path} does not end: {count} pages with {read} records so far. Use a longer --timeout',
  },
  'session-ended':
    'the session had ended when {what} was sent (401); it was not sent again. Check, then repeat it',
  'no-session': {
    token:
      '{path} returned no session in {place} ({status}, {account}){reason}. Try "login {device}"; or "auth.login" of its profile does not fit',
    refused:
      'the login was refused ({status}, {account}){reason}. Try "login {device}"; or "auth.login" of its profile does not fit',
  },
  'no-login': 'no login: {problem}',
  trace: '< no response{fault}',
} as const;
