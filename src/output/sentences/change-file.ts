import { counted, oneLine, pluralOf, someOf } from '../../text/one-line.ts';

type Names = readonly string[];

/** What is found in files of changes, plans, results and runs, and what `--allow` permits. */
export const CHANGE_FILE = {
  allow: {
    'own-account':
      'write to the account in use, beyond harmless fields; in scripts own-account=NAME',
    'unlisted-login': 'write to accounts where no record shows the login in use',
    loss: 'lose what undo cannot restore, add accounts again without their passwords',
    invalid: 'send values that the device calls invalid, fields that no record has',
    drift: 'overwrite what somebody changed since, apply an expired plan',
    unread: 'send a raw request to accounts although devsh cannot tell what it does',
    protected: 'delete a protected record, or the last one',
    prune: 'prune although the file or the reading looks like a mistake',
    'break-glass': 'the same to a break-glass account, named in full: break-glass=NAME',
    override: 'use --allow {word} to override',
    unnamed: 'break-glass needs the account in full: --allow break-glass=NAME',
    unknown: ({ word, words }: { word: string; words: Names }) =>
      `"${oneLine(word)}" is not one of ${words.join(', ')}`,
  },

  'bad-change-file': {
    'no-list': 'a change set is a list of changes: "- add: user", "- delete: user" …',
    'no-action': 'a change says "add: user", "set: user" or "delete: user"',
    'two-actions': 'one change cannot be both {actions}',
    'no-target': 'a change needs its records: either "key: bob" or "where: lang=de"',
    'no-fields': 'a change needs "fields:" with at least one field',
    'field-twice': '"{field}" is given twice',
    'not-json': `":=" takes JSON as a text: mtu:=: 1500, or states:=: '["OK"]'`,
    'not-text': '"{name}" must be text',
    'unknown-key': 'unknown key "{key}", {hint}',
    'no-row': 'no record after the line of field names',
    nameless: 'this {resource} has no username',
    twice: '{record} appears twice (first in line {line})',
    'twice-for': '{resource} {key} appears twice for {device} (first at {first})',
    keyless: 'this {resource} has no {keyField}, only {fields} (--map COLUMN={keyField}, or --key)',
    secret: '{field} contains a secret: a baseline is shared and has none; remove it',
    'look-alike': 'looks like "{other}" in the file',
    'shared-key': '{count} records with this {keyField}',
    'unknown-field': 'no {resource} on the devices that were read has a field "{field}"{hint}',
    'unknown-column':
      'no {resource} of {name} has a field "{field}"{hint} (--map "{field}=FIELD" renames it, --map "{field}=" leaves it out)',
    ambiguous: ({ name, count, resource, keyField, key }: Rows & { key: string }) =>
      `${name} has ${count} ${pluralOf(resource)} with the ${keyField} ${key}: distinguish them with --key`,
    'second-row': '{resource} is one object on {device}: one row is enough',
    'hidden-part':
      '{field} contains secrets on {name}, which the file omits: change it with "{resource} set"',
    'needs-key': 'a new {resource} on {name} needs {field}',
    'other-person': 'the row shows another person ({traits})',
    'none-in-file': ({ name, count, resource, keyField }: Rows) =>
      `none of the ${count} ${pluralOf(resource)} of ${name} is in the file: --prune would delete them all; ` +
      `--key matches them by another field than ${keyField}, --allow prune deletes them`,
    'pruned-look-alike':
      '"{key}" looks like "{other}" on {name}, which --prune would delete: write it the same way, or use --allow prune to override',
    objection: '{field}: {problem}, according to {name} (use --allow invalid to override)',
    'not-utf8': '{file} is not UTF-8 text (perhaps UTF-16): save it as UTF-8',
    'no-records': '{file} has no records',
    record: () => 'a record looks like {"username": "bob", "lang": "de"}',
    'bad-device': 'a device of an export has "device" and "records"',
    'no-devices': 'this document of devsh has no records: "devices" is missing',
    'same-column': 'two columns have the name "{field}"',
    problems: ({ problems, more }: { problems: Names; more: number }) => {
      const rest = more > 0 ? [`and ${more} more`] : [];
      const sent = problems.length > 1 ? ['nothing was sent'] : [];
      return [...problems, ...rest, ...sent].join('\n');
    },
  },
  'bad-run-file': {
    'needs-secret':
      'this plan needs a secret (a password or token field), which a plan file must not hold: apply it directly',
    'cut-plan':
      '{file} was cut or changed since it was written (its SHA-256 does not match): plan again',
    expired: '{file} has expired ({time}): plan again, or use --allow drift to override',
    'foreign-plan': 'the file holds what no plan of devsh has: plan again',
    'no-result':
      '{file} is not a result file of devsh, or was cut or damaged: write the result again, or remove the file',
    'shared-device': 'two of the plans have the same device: name the plans of one set of shards',
    'other-plan': '{file} is the result of another plan',
    'other-devices': '{file} does not match the plan: it has no {name}',
    both: '{file} and {other} both applied {device}: leave one of them out',
    'no-journal': 'not a journal of devsh',
    empty: 'the journal is empty: its run sent nothing',
    damaged: 'damaged line in the journal',
    version: 'written by another version of devsh ({schema})',
    'two-runs': 'the journal contains two runs',
  },
  unfinished: {
    waiting: 'not sent',
    'not-read': 'not read back',
    'not-in-effect': 'not in effect yet',
    question: 'a question without an answer',
    dropped: 'dropped by {by}: {reason}',
    undone: 'undone by run {run}',
    continued: 'continued by run {run}',
    replaced: 'replaced by run {run}',
    unlisted: 'the device left the inventory',
    sent: 'sent, but interrupted before it was read back',
    raw: 'devsh does not know what it did',
    unreported: 'in no result file',
    'in-open-shard': 'its shard did not end',
    'open-shard':
      'shard {shard} ({file}) did not end: run the same line again, or "resume {run}" as {by}',
    'stopped-shard': 'shard {shard} ({file}) stopped: {reason}',
    'left-by-shard': (found: ShardNames & { run: string; by: string; devices: Names }) => {
      const { shard, file, run, by, devices } = found;
      return `shard ${shard} (${file}) has left work on ${someOf(devices)}: "resume ${run}" as ${by} where it ran continues`;
    },
    superseded: ({ file, other, count }: { file: string; other: string; count: number }) =>
      `${counted(count, 'device')}: using ${file}, because ${other} did not finish`,
  },
} as const;

type Rows = Readonly<{ name: string; count: number; resource: string; keyField: string }>;

type ShardNames = Readonly<{ shard: string; file: string }>;
