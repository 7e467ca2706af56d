import { aOrAn, pluralOf } from '../../text/one-line.ts';

/** What is found before a request is sent: addresses, logins, certificates, ways, records without a path. */
export const DEVICE = {
  'bad-address': {
    login:
      'an address must not contain a user or password (…@host): give only the host and use "login"',
    scheme: '{shown}: devsh speaks only HTTPS; write https://… or only the host',
    missing: 'the address of a device is missing',
    path: '{shown}: an address is only host and port, without path or query',
    brackets: '{shown}: the brackets must contain an IPv6 address',
    ipv6: '{shown} is not an IPv6 address; with a port write [address]:port',
    ipv4: '{shown} is not an IPv4 address: write four numbers from 0 to 255 without leading zeros',
    name: '{shown} is neither a host name nor an IP address',
    port: '{shown}: the port must be a number from 1 to 65535',
  },
  'bad-credential': {
    colon: 'a user name must not contain ":": Basic authentication separates the password with it',
    user: 'a user name must not contain a control character or a line end',
    password:
      'a password must not contain a control character, such as a tab or a line end (RFC 7617); nothing was sent',
    empty: 'the password is empty; nothing was sent',
    token:
      'the token is empty or contains an invalid character (a space, a line end): type it again',
  },
  account: { none: 'without a login', token: 'with a token', unknown: 'this account' },
  'bad-ca': {
    none: '{file} contains no certificate in PEM form ("-----BEGIN CERTIFICATE-----")',
    key: '{file} contains no certificate in PEM form ("-----BEGIN CERTIFICATE-----"), but a private key',
    damaged: '{file}: certificate {number} of {count} is damaged',
  },
  certificate: {
    validity: 'issued for {names}, valid {from} to {to}',
    'self-signed': 'it is self-signed',
    issuer: 'its issuer {issuer} is not trusted here',
    revoked: 'it was revoked',
    other: '{reason}',
    'issuer-expired': 'the certificate of its issuer {issuer} has expired or is not valid yet',
    'issuer-unchecked': 'its issuer was not checked',
    expired: 'it expired on {day} (here it is {today})',
    early: 'it is not valid before {day} (here it is {today})',
    name: 'it was issued for another name: {names}, not {asked}',
  },
  untrusted: {
    ca: 'the certificate does not pass {file}: {problem} ({certificate}). Nothing was sent; check the CA file or the device',
    unknown:
      'the certificate is not trusted: {problem}. Nothing was sent. "trust scan {device}" shows it to compare, "trust accept {device}" pins it',
    changed:
      'THE CERTIFICATE HAS CHANGED. Nothing was sent. Someone may be intercepting the connection: "trust scan {device}" shows both; if it was renewed, "trust replace {device}"',
  },
  'bad-route': {
    proxy:
      'the address of a proxy starts with http://, https://, socks5:// or socks5h:// and has no path; a "%" in its login is %25',
    jump: 'this is not a jump host: write HOST, USER@HOST or USER@HOST:PORT, as for ssh',
    'jump-port': 'the port of a jump host must be a number from 1 to 65535',
    login: 'the inventory keeps no login of a proxy; put it into HTTPS_PROXY with the same proxy',
    variable: '{variable} in the environment: {problem}',
  },
  route: {
    via: 'through the {route}',
    'by-jump': 'jump host {host}',
    jump: 'not reached through the jump host {jump}: {problem}. Try "ssh {jump}"',
    proxy: 'the proxy {url} {problem}',
    'no-proxy':
      'the proxy {url} {problem}; devsh did not try the device. Check "proxy" in the inventory, or --proxy',
    'no-variable':
      'the proxy {url} {problem}; devsh did not try the device. Check {variable}, or add the device to NO_PROXY',
  },
  'jump-lost': {
    'no-program': 'ssh cannot be started: the program "ssh" is not in PATH',
    start: 'ssh cannot be started: {reason}',
    status: 'ssh ended (exit status {status}){reason}',
    signal: 'ssh ended (signal {signal}){reason}',
  },
  'proxy-refused': {
    target: 'returned {status}: it does not allow connections to {target}',
    reach: 'returned {status}: it cannot reach {target}',
    login: 'returned {status}: it rejects the login',
    'no-login':
      'returned {status}: it requires a login; put one into HTTPS_PROXY, as in http://USER:PASSWORD@HOST:PORT',
    other: 'returned {status} for {target}',
    early: 'sent data after its reply, before TLS began. Is the port of the device its HTTPS port?',
    reported: 'reports: {reason} ({target})',
    'socks-login':
      'rejects the login, or requires a login of 1 to 255 bytes ({reason}); put one into ALL_PROXY, as in socks5h://USER:PASSWORD@HOST:PORT',
    late: 'made no connection to {target} in time',
    reset: 'closed the connection before its reply was complete',
    malformed: 'did not respond in HTTP. Is it an HTTP proxy?',
    'too large': 'sent a reply that is too long for a proxy',
  },
  'proxy-unreachable': {
    name: 'has a name that does not resolve',
    refused: 'refuses the connection',
    'no route': 'cannot be reached: no route to it',
    'connect timeout': 'does not respond in time',
    reset: 'closes the connection at once',
    tls: 'has no trusted TLS: {reason}',
  },

  'bad-resource': '"{resource}" is not the name of a resource',
  'foreign-path': '{path} is not a path on the device: it must start with one slash, as /api/user/',
  'may-delete-many':
    'DELETE {path} may delete more than one record: nothing was sent. Name one record, as in {base}user/<uuid>/',
  'not-one-record': '{path} is not the path of one record; nothing was sent',
  'nameless-record':
    'this {resource} shows none of the fields that would name it in a path ({fields}): nothing was sent. If its key names it: "profile set DEVICE resources.{resource}.named_by=key"',
  'placeless-record': 'this {resource} does not show where it is ({field}): nothing was sent',
  'ambiguous-name':
    'the {field} of this {resource} is {value}, which does not name one record: nothing was sent',
  'no-revision':
    'this {resource} shows no revision ({field}), so devsh might overwrite a change: nothing was sent',
  'fixed-field': ({ field, resource }: { field: string; resource: string }) =>
    `the ${field} of ${aOrAn(resource)} cannot be changed: nothing was sent`,
  'half-character':
    '{field}: the value contains half a character (an unpaired surrogate) and cannot be sent',
  'id-line': 'profile set {device} id_fields=[] resources.{resource}.key_field={field}',
  'id-of-device':
    'as far as devsh knows, the device sets the {field} of a new {resource}: leave it out, or use "{resource} set"; if you choose it, state that: "{line}"',
  'single-object':
    '{resource} is one object: change it with "{resource} set field=value"; it cannot be added or deleted',
  'no-rotation': {
    password: ({ resource }: { resource: string }) =>
      `the profile does not say how the device sets the password of ${aOrAn(resource)}: state it as ` +
      `resources: {${resource}: {fields: {password: hidden}}}, or learn it ("help rotate"); nothing was sent`,
    open: '"{field}" does not read as the name of a secret, so devsh could not mask it; nothing was sent',
    token: ({ resource }: { resource: string }) =>
      'the profile does not say how the device makes a new token: state it as resources: ' +
      `{${resource}: {rotate_token: {path: "{item}token/", answer: token}}}; nothing was sent`,
  },
  'bad-profile': {
    unknown: 'unknown fact "{key}", {hint}',
    extends: 'no built-in profile "{from}"; the profiles are {known}',
    'natural-key': ({ key }: { key: string }) =>
      `"${key}" is the natural key: leave it out; with [] the path {item} ends with it`,
    'delete-path': () =>
      'a DELETE must go to the path of one record: {item}, {id} or {key} is missing',
    'list-post': 'a POST to the path of new records would add one: state list.path',
    nameless: '{write} must name one record: by its path or a selector',
    'nameless-update': 'update must name one record, or the resource must be single',
    'parent-path': () => 'a parent and a path with {parent} belong together',
    'parent-list': 'a parent has a list of its own',
    'login-password': () => 'fields must have {password} as a value',
    'login-path': '{path} has records: a login would add one',
    'logout-path': () =>
      'a logout by DELETE must go to the path of the login, below it, or to {location}',
    'delete-only': 'a DELETE neither adds nor changes anything',
    'no-change': 'a change without the record changes nothing',
    wrapper: 'wrapper needs the encoding json',
    list: ({ fact, value }: { fact: string; value: string }) =>
      `${fact}: "${value}" is no list or map; write {name: value} and [a, b]`,
  },
  'exists-unlisted': '{path} exists already, although its list does not show it; nothing was sent',
  'cannot-say': {
    null: 'null of {field}',
    list: 'the empty list of {field}',
    object: 'the empty object of {field}',
    absence: 'the absence of {field}',
    bytes: 'the bytes of {field}, which are not UTF-8',
  },
  'too-many-to-read': {
    parents: ({ resource, count, parent }: { resource: string; count: number; parent: string }) =>
      `the ${pluralOf(resource)} are below ${count} ${pluralOf(parent)}, too many to read one by one`,
    details: ({ resource, count }: { resource: string; count: number }) =>
      `its list of ${pluralOf(resource)} omits fields, and ${count} records are too many to read one by one: name fewer`,
  },
} as const;
