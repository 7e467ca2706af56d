import { someOf } from '../../text/one-line.ts';

/** What is found in the readings of earlier times, and while they are kept. */
export const HISTORY = {
  event: {
    first: '{name} there at the first reading',
    listed: '{name} in the list now',
    unlisted: '{name} no longer in the list',
    shape: '{resource}: shape changed: {fields} on {records}, probably firmware',
    left: '{resource}: {fields} left out from now on: different at every reading',
  },
  identity: {
    pin: 'device was replaced: other certificate',
    address: 'device has another address: nothing is compared across',
    'digest key': 'device has a new history: the key of the digests was replaced',
    'key field': 'device names the records by another field: nothing is compared across',
  },
  'not-read': {
    large: '{device}: {resource} is too large to be kept',
    yet: '{device}: devsh has not kept a reading of {resource} yet',
    then: '{device}: {resource} was not read by {time}; the first reading is of {first}',
  },
  'summary-list': (found: { shown: readonly string[]; omits: readonly string[] }) => {
    const { shown, omits } = found;
    const known = shown.length === 0 ? 'known are only names' : `known are only ${someOf(shown)}`;
    const others = omits.length === 0 ? 'other fields' : `at least ${someOf(omits)}`;
    return `${known}: the list leaves out ${others}`;
  },
  'damaged-lines': '{path} ({lines} damaged, or after a damaged one)',
  history: {
    kept: 'readings are kept for `changes`, secrets masked; off: config set historyDays 0 (in {folder})',
    lost: 'the history of this reading was not kept: {reason}',
    large:
      '{device}: this reading is too large to be kept: {count} records of {resource}, more than {most}',
    locked: 'cannot write to {folder}',
  },
} as const;
