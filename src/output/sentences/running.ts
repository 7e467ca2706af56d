import { counted, someOf } from '../../text/one-line.ts';

type Names = readonly string[];
/** A message names at most this many records, and counts the rest. */
const NAMED = 10;
const naming =
  (start: string) =>
  ({ names }: { names: Names }): string =>
    `${start}: ${someOf(names, NAMED)}`;

/** What is found while a plan is carried out: who must not be touched, what was not sent, what reading back shows. */
export const RUNNING = {
  'at-risk': {
    field: '{field} of {account} would lose {user}, the account in use',
    'glass-field': '{field} of {account} would lose {user}, a break-glass account',
    glass: '{harm} {account} may take away access from {user}, a break-glass account',
    own: '{harm} {account} may lock you out: it is the account in use',
    'perhaps-own': '{harm} {account} may lock you out: it may be the account in use, {user}',
    'unknown-owner':
      '{harm} {account} may lock you out: the owner of the token in use is unknown (set --user or DEVSH_USER)',
    unlisted: '{harm} {account} may lock you out: no {resource} shows {user}, the login in use',
    token:
      'a lost response would lose the token in use and the new one: log in with a password or another account (--user)',
    protected: 'the device protects {key} ({field}: {value})',
    last: 'deleting {key} would leave no {resource}',
    refused: '{reason}; {hint}',
    'name-it': 'name it in full to override: {option}',
  },
  'not-sent': {
    reason: '{reason}; nothing was sent',
    skipped: 'not sent: {reason}',
    unchecked: 'sent before the interruption, not checked since: {reason}',
    'read-only': 'read-only in the inventory; nothing was sent',
    cancelled: 'cancelled: nothing was sent',
    twice: '{name} would be changed twice: use one change',
    conflict: '{name} {what} since the plan; nothing was overwritten ({reason})',
    encoding:
      'devsh does not know whether {path} takes a form or JSON: its profile states both for a POST; nothing was sent',
    unknown: '{method} {path} names {whom}, and what it does is not known',
  },
  stopped: {
    user: 'the user ended the run early',
    canary: 'the canary failed on {devices}',
    unselected: 'the device is not selected',
    logins: 'the login was refused twice',
    'login-lost': 'the login in use is not known to work',
    'new-login-lost': 'no {secret} of {key} is known to work on {device}',
    failures: (found: { failed: number; unread: number; devices: number; allowed: string }) => {
      const { failed, unread, devices, allowed } = found;
      const of = `of ${counted(devices, 'device')}`;
      const missing = `${unread} ${failed === 0 ? `${of} ` : ''}not read`;
      const parts = [
        ...(failed === 0 ? [] : [`${failed} ${of} failed`]),
        ...(unread === 0 ? [] : [missing]),
      ];
      return `${parts.join(', ')}; --max-failures allows ${allowed}`;
    },
  },
  'bad-shard': {
    form: '"{text}" is not a shard: the second of four is 2/4',
    total: 'the number of shards must be 1 to {most}, not {total}',
    index: 'there is no shard {index} of {total}: shards are numbered from 1 to {total}',
  },
  rotation: {
    'look-alike':
      '{key} is not {user}, the login in use, but has nearly its name: rotate it with a third account (--user)',
    'may-be-other':
      '{key} may be another account than {user}, the login in use, but has nearly its name: rotate it with a third account (--user)',
    unkept: 'only "rotate" sets a secret that is kept',
    forgotten: 'no new password of {key} is kept (it was refused, or forgotten): rotate it again',
    other: 'another rotation of {key} has begun (run {run})',
    'no-old':
      'it wants the old password of {key}, which is not kept: log in with it (--user {key})',
    open: 'it shows {resources} without a login, so that no login proves a password',
    'other-secret': '{name} needs a secret of another field, which is not kept: rotate it again',
    'no-token': 'the response has no token in {place}',
    works: 'a new login with the new {secret} works',
    'still-pending': 'it is still pending',
    'old-works': 'the old one still works',
    'not-yet': 'the new one does not work yet; it is kept, "resume" tries it',
    lost: 'the new {secret} of {key} was lost with the response; "resume" makes another one',
    neither:
      'neither the new {secret} of {key} nor the old one is known to work; both are kept, "resume" tries them',
    unknown: 'the new {secret} of {key} is not known to work; it is kept, "resume" tries it',
    unread: 'but reading back failed: {reason}',
  },
  seen: {
    already: 'already so',
    accepted: 'the device accepted it',
    objection: 'the device responded: {text}',
    refused: 'the device refused it ({reason})',
    unrefused: 'no answer refuses it',
    lost: 'the response was lost',
    unusable: 'the response was unusable',
    expired: 'its session had ended',
    'sent-before': 'sent before; {reason}',
    'perhaps-sent':
      'it was sent before the interruption; the device has {key}, which may be this record',
    settled: 'it was sent before the interruption; read-back settled it',
    hidden: '{names} cannot be read back',
    rehashed: 'hidden: {names} (its hash has changed)',
    unread: 'read-back failed: check the record before you repeat the line',
    shown: 'read-back shows it',
    'no-change': 'read-back shows no change so far',
    'own-no-change': 'nothing changed so far',
    late: 'the device shows changes late, or not at all: this one does not show yet',
    open: 'it is {why}',
    'refused-as-asked': 'refused, and it is as asked now; devsh cannot tell by whom',
    'refused-changed': 'refused, and the record is not as before; devsh cannot tell by whom',
    several: 'the device now has {count} records with this {field}',
    second: 'the device added a second record instead of changing the first',
    gone: 'the record has disappeared since the request: neither the list nor its own path shows it',
    unlisted: 'the list no longer shows it',
    'list-lacks': 'the device responded with the record (id {id}), but its list does not show it',
    'own-path-only': 'its own path shows it, but the list does not',
    'still-there': 'the record still exists',
    respelled: 'the device accepted it and stored it in its own spelling',
    unasked: 'changed without a request: {fields}',
    unknown: '{fields} cannot be read back: unknown whether the device has stored it',
    'left-out': 'left to the device: {fields}',
    'not-closed':
      'only the device sets {field}, so nothing keeps this account closed; the same line now asks whether to go on',
    'moved-id': '{name} had the id {id} and now has {now}',
    'others-gone': naming('no longer in the list, without a request'),
    'others-changed': naming('also changed without a request'),
    vanished: naming('no longer shown'),
    'others-added': naming('added meanwhile'),
  },
} as const;
