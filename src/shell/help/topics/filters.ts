import { twoColumns, type TopicBody } from './help-topic.ts';

/** Each form with an example of it, for a test to read. */
export const FILTER_FORMS: readonly {
  readonly form: string;
  readonly example: string;
  readonly meaning: string;
}[] = [
  {
    form: 'WORD',
    example: 'alice',
    meaning: 'anywhere in the record, or in the name of its device',
  },
  {
    form: 'FIELD=VALUE',
    example: 'lang=de',
    meaning: 'the field holds this; a list: one of its items',
  },
  { form: 'FIELD!=VALUE', example: 'lang!=de', meaning: 'it holds something else, or nothing' },
  {
    form: 'FIELD~REGEX',
    example: 'lastname~^(ab|ac)',
    meaning: 'a regular expression finds a part of it',
  },
  { form: 'device=NAME', example: 'device=fw1', meaning: 'the records of one device' },
];

export const filters: TopicBody = {
  text: () =>
    [
      ...twoColumns(
        FILTER_FORMS.map(({ form, example, meaning }): [string, string] => [
          form.padEnd(13) + example,
          meaning,
        ]),
      ),
      '',
      'All of them must match. Case never counts. Quotes keep blanks together: lastname="van Dyk".',
      'Words of a listing also match when only their letters come in this order (aldt: alice ardent);',
      'those of --where, which chooses what is written, must be there as typed.',
      'A comma does not mean "or": use a regular expression, as in lang~^(de|fr)$.',
    ].join('\n'),
  examples: [
    'user list lang=de lastname~^A',
    "user delete --where 'lang=xx username~^tmp' --dry-run",
  ],
};
