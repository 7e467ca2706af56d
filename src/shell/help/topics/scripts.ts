import type { TopicBody } from './help-topic.ts';

export const scripts: TopicBody = {
  text: () =>
    [
      'Data goes to stdout, everything else to stderr. Where stdout is no terminal there is no colour and',
      'no frame, nothing is cut off and nothing is asked: a write without --yes ends with 6, and is not sent.',
      '',
      '--json, --format jsonl|csv|yaml   for programs; jsonl prints each record as it arrives',
      '-q                                no remarks, only data and errors',
      '-                                 in place of a FILE that is read: standard input',
      '                                  (plan, apply, run, import, device import, profile check)',
      '--                                no options behind it: user show -- -x; put -- in front of what',
      '                                  begins with - and comes from a variable',
      '--token-stdin, --password-stdin   the secret from standard input; there is no option that takes it',
      '',
      'An empty word, as an unset variable leaves it, is a mistake and never means "all".',
      'run FILE runs the lines of a file as they stand at the prompt, and stops at the first that fails;',
      'from a line "set +e" on until "set -e", and with --keep-going, it goes on. ${NAME} in it stands for',
      'NAME=VALUE behind the file, or DEVSH_VAR_NAME in the environment. "run --help" tells more.',
    ].join('\n'),
  examples: [
    'run change.devsh --on @berlin --yes',
    'run leaver.devsh USER=bob --on @berlin --yes',
    'user show -- -x',
  ],
};
