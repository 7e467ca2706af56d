import { oneLine } from '../../text/one-line.ts';

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
    unknown: ({ word, words }: { word: string; words: readonly string[] }) =>
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
  },
} as const;
