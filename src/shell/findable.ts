import { unlessFailed } from '../errors.ts';
import { keyFieldOf } from '../device/profile.ts';
import { documentedProfile } from '../device/built-in-profiles.ts';
import { SETTING_ROWS } from '../settings/settings-table.ts';
import { suggest } from '../text/suggest.ts';
import { hasUnsafe } from '../text/visible.ts';
import { quoteWord } from '../text/words.ts';
import type { CommandSpec } from './command.ts';
import { title } from './grammar/bind.ts';
import { synonymsOf } from './grammar/meant-lines.ts';
import { HELP_TOPICS } from './help/topic-names.ts';
import { matchOf, targetsOf } from './completion/complete.ts';
import { type CompletionSources, seenDevices, seenKeys } from './seen-devices.ts';

/** Something that the user can look up by its name, or by the word of another program. */
export interface Findable {
  readonly kind: 'key' | 'command' | 'device' | 'group' | 'user' | 'run' | 'setting' | 'help';
  /** As the device spells it: it may have control characters. */
  readonly name: string;
  readonly summary: string;
  readonly words: readonly string[];
}

/** With the line that uses it. If the line ends with a blank, the user completes it. */
export interface FindableLine extends Findable {
  readonly line: string;
}

/** More users than that cannot be searched within a few frames. */
const MOST_USERS = 10_000;

/** All that a session knows: commands, devices, groups, users, runs, settings, help. Asks no device. */
export async function findableLines(
  session: CompletionSources,
  commands: readonly CommandSpec[],
): Promise<readonly FindableLine[]> {
  const connected = new Set(session.fleet.connected.map(({ ref }) => ref.name));
  const targets = await targetsOf(session);
  const seen = new Set<string>();
  const devices = targets.flatMap(({ text, summary }) => {
    if (seen.has(text)) return [];
    seen.add(text);
    const line = `${connected.has(text) ? 'use' : 'connect'} ${quoteWord(text)}`;
    return findable(text.startsWith('@') ? 'group' : 'device', text, line, summary);
  });
  const keyField = keyFieldOf(documentedProfile, 'user');
  const users = seenKeys(await seenDevices(session, []), 'user', keyField);
  const unlisted = users.splice(MOST_USERS).length;
  const rest = 'not listed here: filter the table';
  const more = findable('user', `${unlisted} more users`, 'user list ', rest, ['user']);
  const runs = (await unlessFailed(session.services.runs.ids())) ?? [];
  return [
    ...commands.flatMap((command) =>
      command.verbs.map((verb) => {
        const name = title(command, verb);
        const words = [...(command.aliases ?? []), ...synonymsOf(name, commands)];
        return findable('command', name, `${name} `, verb.summary, words);
      }),
    ),
    ...devices,
    ...users
      .filter(({ text }) => !hasUnsafe(text))
      .map(({ text, summary }) => {
        const line = `user show ${text.startsWith('-') ? '-- ' : ''}${quoteWord(text)}`;
        return findable('user', text, line, summary);
      }),
    ...(unlisted > 0 ? [more] : []),
    ...runs.map((id) => findable('run', id, `runs show ${id}`)),
    ...SETTING_ROWS.map(([name, { summary }]) =>
      findable('setting', name, `config set ${name} `, summary),
    ),
    ...Object.entries(HELP_TOPICS).map(([name, summary]) =>
      findable('help', name, `help ${name}`, summary),
    ),
  ];
}

function findable(
  kind: Findable['kind'],
  name: string,
  line: string,
  summary = '',
  words: readonly string[] = [],
): FindableLine {
  return { kind, name, summary, words, line };
}

/** The matches of all typed words, the best first. If there are none, those of the most similar word. */
export function found<F extends Findable>(all: readonly F[], typed: string): readonly F[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return all;
  const ranked = (wanted: readonly string[]): F[] =>
    all
      .map((one) => ({ one, rank: Math.max(...wanted.map((word) => rankOf(one, word))) }))
      .filter(({ rank }) => rank < Infinity)
      .sort((a, b) => a.rank - b.rank)
      .map(({ one }) => one);
  const best = ranked(words);
  if (best.length > 0) return best;
  const known = new Set(all.flatMap(({ name, words: others }) => [...name.split(' '), ...others]));
  const [similar] = suggest(typed.trim(), known);
  return similar === undefined ? [] : ranked([similar.toLowerCase()]);
}

/** Smaller is better. Best is the name as typed, then a synonym, a part of the name, and the summary. */
function rankOf({ name, summary, words }: Findable, word: string): number {
  const match = matchOf(word, name);
  if (match !== undefined && match.tier < 2) return match.tier;
  if (words.some((other) => other === word)) return 1;
  if (match?.tier === 2) return 2;
  if (word.length > 1 && words.some((other) => other.startsWith(word))) return 2.5;
  if (` ${summary.toLowerCase()}`.includes(` ${word}`)) return 3;
  return match === undefined ? Infinity : 4;
}
