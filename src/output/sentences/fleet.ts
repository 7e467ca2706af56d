import { counted, oneLine, someOf } from '../../text/one-line.ts';
import { nearHint } from '../../text/suggest.ts';

/** Names in one sentence: as many as a person reads in one line. */
const MOST = { groups: 8, fields: 12 };

type Names = readonly string[];
type None = Readonly<{ none: string }>;

/** What is found about many devices: the inventory, selectors, filters, lists. */
export const FLEET = {
  'device-exists': 'there is already a device "{name}" in {file}',
  'address-exists': '{address} is already in {file}, as "{name}"',
  'no-such-device': 'no device "{name}" in {file}',
  'not-listed': '{file} no longer lists {name}; import again',
  'shared-anchor':
    '{key} is an anchor (&{name}) that other entries use (*{name}): edit the inventory file itself; nothing was changed',
  'written-twice': {
    device: 'there is already a device "{name}" (first in line {line})',
    group: 'there is already a group "{name}" (first in line {line})',
    address: 'there is already a device at {name} (first in line {line})',
  },
  'bad-group-name': 'group name {problem}',
  'group-in-itself': 'the group "{name}" contains itself',
  'no-inventory': 'the file must contain "devices:" and "groups:"',
  'device-without': {
    address: 'the device needs an address',
    name: 'the device needs a name',
  },
  'named-as-address': 'a device named {name} cannot have another address',
  'proxy-and-jump': 'a device has either a proxy or a jump host, not both',
  'inventory-head':
    ' Devices that devsh knows by name. Edit this file as you like, or use "devsh device add" and\n' +
    ' "devsh device remove", which keep your comments.',

  'all-excluded': '"{selectors}" selects no device: "!" excludes all that it names',
  'nothing-excluded': '"!" needs a device to exclude, as in !fw3',
  'empty-inventory': 'the inventory has no devices; "devsh device add" adds one',
  'no-such-group': ({ group, groups }: { group: string; groups: Names | undefined }) => {
    const start = `no group "${oneLine(group)}" in the inventory`;
    if (groups === undefined) return start;
    if (groups.length === 0)
      return `${start}; no device has one: "devsh device add NAME ADDRESS --group GROUP"`;
    const more = groups.length > MOST.groups ? ', …' : '';
    return `${start}; it has ${groups.slice(0, MOST.groups).join(', ')}${more}`;
  },
  'no-match': 'no device matches "{word}"; "device list" shows all names',
  'no-such-name':
    'the inventory has no device or group "{word}"; "devsh device add {word} ADDRESS" adds it',
  'name-of-group': 'the inventory has no device "{word}"',
  'too-many-devices':
    '"{term}" stands for {count} devices; at most {most} can be selected: write a smaller range',
  'bad-range': {
    list: '"{range}" is not a list of numbers such as [5-9] or [1,3,5-7]',
    bracket: 'a bracket is not closed in "{term}"',
    reversed: 'the range {range} is reversed',
    net: '"{address}" in "{term}" is not an IP address',
    prefix: '/{prefix} in "{term}" is more than /{width}',
  },

  'bad-filter': {
    quote: 'the quote is not closed',
    empty: 'an empty filter would select every record',
    slow: "the pattern '{pattern}' repeats a group that itself repeats or has alternatives, which can take forever",
    pattern: "the pattern '{pattern}' is invalid: {reason}",
  },
  'no-such-field': ({ field, fields, none }: { field: string; fields: Names } & None) => {
    const near = nearHint(field, fields) || `; the fields are ${someOf(fields, MOST.fields)}`;
    return `${none} has a field "${oneLine(field)}"${near}`;
  },
  'no-such-value': (found: { field: string; text: string; values: Names } & None) => {
    const { field, text, values, none } = found;
    const isFew = values.length > 0 && values.length <= MOST.fields;
    const all = isFew ? `; the values are ${values.toSorted().join(', ')}` : '';
    return oneLine(`${none} has ${field}=${text}${nearHint(text, values) || all}`);
  },
  'order-as-field': '{none} has a field "{field}": --sort -FIELD sorts in descending order',
  'field-as-word':
    '"{field}" is a field: --columns FIELDS or --json=FIELDS shows it, {field}=VALUE filters',
  'other-spelling': '{none} matches "{word}", which is written {meant} here',
  'odd-word': {
    or: '{none} has "{word}": conditions stand side by side, and all must match; lang~^(de|fr)$ is one value or the other',
    and: '{none} has "{word}": conditions stand side by side, and all must match',
    operator: '{none} has "{word}": a condition is written without blanks, as in lang=de',
    not: '{none} has "{word}": field!=value excludes, as in lang!=de',
    order: '{none} has "{word}": --sort -FIELD sorts in descending order',
    star: '{none} has "{word}": "*" stands for itself; field~regex searches, as in username~^ab',
    time: '{none} has "{word}": --at TIME shows what was read then',
    regex: '{none} has "{word}": field~regex searches with a pattern, as in username~^ab',
    columns:
      '{none} has "{word}": --columns FIELDS chooses fields; words to search for stand side by side',
    commas: '{none} has "{word}": conditions stand side by side, with blanks and without commas',
    device: '{none} has "{word}": --on SELECTOR names devices (fw1,fw2)',
  },

  'list-hides': 'not in the list, which leaves records out',
  'list-cut':
    'not in the list, which may be cut: state how it pages, or "profile set {device} list.paging=none"',
  'own-path-unclear': 'not in the list, and its own path does not tell',
  'not-tried': ({ device, user, isAgain, refusedBy }: NotTried) => {
    const whose = user === undefined ? 'the token' : `the login of ${user}`;
    const names = refusedBy.join(' and ');
    return `${device}: ${whose} was not tried${isAgain ? ' again' : ''}, because ${names} refused it. Check it with "devsh login".`;
  },
  drift: (counts: DriftCounts) => {
    const { records, resource, devices, unread } = counts;
    const { same, differing, missing, unlisted } = counts;
    const read = unread === 0 ? '' : ` read, ${unread} not read`;
    const what = `${counted(records, resource)} on ${counted(devices, 'device')}${read}`;
    if (same === records) return `no differences: ${what}`;
    const parts = [
      `${same} ${sharedText(devices, unread)}`,
      ...(differing > 0 ? [`${differing} ${differing === 1 ? 'differs' : 'differ'}`] : []),
      ...(missing > 0
        ? [
            `${missing} not ${unlisted > 0 ? 'listed on' : 'on'} all${unread === 0 ? '' : ' of them'}`,
          ]
        : []),
    ];
    return `${what}: ${parts.join(', ')}`;
  },

  'bad-source': {
    'no-column':
      '{file}:1: no column "{column}"; the first line names the columns: name,address,groups,user',
    list: '{file} is not a list of devices as "device list --json" prints it',
    'two-columns':
      '{file}:1: more than one column "{column}"; the first line names the columns: name,address,groups,user',
    ansible: '{file} is not output of "ansible-inventory --list": not an object',
    unknown:
      '{file} has no known content: looked for "inventory" or "devices" (devsh), "_meta" and groups with "hosts" or "children" (ansible-inventory --list)',
    'ansible-only':
      'only Ansible can read {file}: run "ansible-inventory -i FILE --list | devsh device import -"',
  },
  'left-out': {
    hosts: 'left out hosts that are this machine: {names}',
    groups: 'left out groups with names that devsh does not allow: {names}',
    secrets: 'left out secrets: {names} (keep a login with "login")',
    columns: 'left out columns: {names}',
  },
  'bad-import': {
    name: 'its name {problem}',
    twice: 'the source has "{name}" twice (first: {place})',
    group: 'its group {group} {problem}',
    template: 'its address is a template that only Ansible can fill in',
    invisible: 'its {key} contains invisible characters',
    flag: 'its {key} must be true or false',
    known: 'its address is {address}, and "{name}" already has it',
    shared: 'its address is {address}, and so has "{name}" ({place})',
    'source-group': 'the group {group} of the source {problem}',
    circle: 'with this source the group "{name}" would contain itself',
  },
} as const;

interface NotTried {
  readonly device: string;
  /** Undefined for a token whose owner is unknown. */
  readonly user: string | undefined;
  readonly isAgain: boolean;
  readonly refusedBy: Names;
}

/** Numbers of records; `missing` on a device that was read. */
interface DriftCounts {
  readonly records: number;
  readonly resource: string;
  readonly devices: number;
  readonly unread: number;
  readonly same: number;
  readonly differing: number;
  readonly missing: number;
  /** Of them, those that a list may only leave out. */
  readonly unlisted: number;
}

/** "the same on all", if all were read. */
export function sharedText(of: number, unread: number): string {
  return unread === 0 ? 'the same on all' : `same on ${of} read`;
}
