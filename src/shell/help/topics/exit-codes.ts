import { EXIT_CODES } from '../exit-codes.ts';
import { twoColumns, type TopicBody } from './help-topic.ts';

export const exitCodes: TopicBody = {
  text: () =>
    [
      ...twoColumns(EXIT_CODES.map(({ code, meaning }): [string, string] => [code, meaning])),
      '',
      'When devices end differently, it is 3; when all fail alike, it is what they share.',
      'A script ("run FILE") stops at the first line that fails, and ends with its code.',
    ].join('\n'),
};
