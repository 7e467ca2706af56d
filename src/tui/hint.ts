import { argLabel } from '../shell/bind.ts';
import { COMMANDS } from '../shell/commands/index.ts';
import { parseLine } from '../shell/parse.ts';
import type { Line } from './line.ts';

/** What may be typed next, for the end of the line: the arguments that are left and what they do. */
export function argumentHint({ before, after }: Line): string {
  if (after !== '' || !/\s$/.test(before)) return '';
  const { words, open } = parseLine(before);
  if (open !== undefined) return '';
  const plain = words.map(({ text }) => text).filter((text) => !text.startsWith('-'));
  const [first, second] = plain;
  const command = COMMANDS.find(
    ({ name, aliases }) => name === first || (first !== undefined && aliases?.includes(first)),
  );
  if (command === undefined) return '';
  const named = command.verbs.find(({ name }) => name !== '' && name === second);
  const verb = named ?? command.verbs.find(({ name }) => name === (command.defaultVerb ?? ''));
  if (named === undefined && second === undefined && command.verbs.length > 1) {
    return command.verbs
      .map(({ name }) => name)
      .filter((name) => name !== '')
      .join(' | ');
  }
  if (verb === undefined) return '';
  const given = plain.length - (named === undefined ? 1 : 2);
  const left = verb.args.filter((arg, index) => index >= given || arg.isRest === true);
  return left.map(argLabel).join(' ');
}
