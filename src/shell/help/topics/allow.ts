import { ALLOW_WORDS, allowMeaning } from '../../../change/allow.ts';
import { twoColumns, type TopicBody } from './help-topic.ts';

export const allow: TopicBody = {
  text: () =>
    [
      'What devsh refuses (exit 6) because it looks like a mistake or locks somebody out, it does all the',
      'same when the refusal is named: the message says by which word. The other refusals stand.',
      '',
      ...twoColumns(ALLOW_WORDS.map((word): [string, string] => [word, allowMeaning(word)])),
      '',
      '--allow may stand several times, and takes words with commas: --allow loss,drift. It is no consent:',
      'the question is asked as always, and answered by --yes.',
    ].join('\n'),
  examples: ['user delete admin --on fw1 --allow own-account', 'undo --allow drift'],
};
