import { expect, test } from 'vitest';
import { journalLine } from '../../src/change/journal.ts';
import { parseJournal } from '../../src/change/read-journal.ts';

const HEAD = journalLine({
  kind: 'run',
  run: '20261121-093041-k3qd7m',
  at: '2026-11-21T09:30:41.000Z',
  command: 'user add username=zoe',
  by: 'ann@desk',
  version: '1.0.0',
});

test.each(['', HEAD.slice(0, 3), HEAD.slice(0, 60), HEAD.slice(0, -1)])(
  'a run that ended while its first line was written has sent nothing: %j',
  (text) => {
    expect(() => parseJournal(text, 'j')).toThrow('its run sent nothing');
  },
);

test.each(['garbage', '\0\0\0\0', '\u{fffd}PNG', '{"a":1}', 'garbage\n', '\0\0\n'])(
  'a journal of garbage cannot be read: %j',
  (text) => {
    expect(() => parseJournal(text, 'j')).toThrow(/not a journal|damaged line/);
  },
);
