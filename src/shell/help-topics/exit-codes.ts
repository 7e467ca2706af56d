import { EXIT_CODES } from '../exit-codes.ts';
import { twoColumns, type HelpTopic } from './help-topic.ts';

export const exitCodes: HelpTopic = {
  name: 'exit-codes',
  summary: 'what the exit status of a command means',
  text: () =>
    [
      ...twoColumns(EXIT_CODES.map(({ code, meaning }): [string, string] => [code, meaning])),
      '',
      'When devices end differently, it is 3; when all fail alike, it is what they share.',
      'A script ("run FILE") stops at the first line that fails, and ends with its code.',
    ].join('\n'),
};
