import { MOST_DEVICES } from '../../../fleet/address-range.ts';
import { twoColumns, type TopicBody } from './help-topic.ts';

/** Each with a selector that is of this form, for a test to read. */
export const SELECTOR_FORMS: readonly {
  readonly form: string;
  readonly meaning: string;
}[] = [
  { form: 'fw1', meaning: 'a device of the inventory by its name' },
  { form: 'fw*', meaning: 'all whose names match; ? is one character' },
  { form: '@berlin', meaning: 'all of a group; @all: all of the inventory' },
  { form: '10.0.0.5', meaning: 'an address, also with a port: 10.0.0.5:8443, [2001:db8::1]:8443' },
  { form: '10.0.0.[5-9]', meaning: 'a range, anywhere in an address or a name; [1,3,7-9] too' },
  { form: '10.0.0.0/29', meaning: 'all addresses of a network' },
  { form: '!fw3', meaning: 'not this one; alone: all of the inventory but this one' },
];

export const selectors: TopicBody = {
  text: () =>
    [
      ...twoColumns(SELECTOR_FORMS.map(({ form, meaning }): [string, string] => [form, meaning])),
      '',
      'Spaces or commas between them, or --on several times; each device counts once, in the order in',
      `which it is first named. At most ${MOST_DEVICES} devices that the inventory does not have. Shells`,
      "read * ? [ ! themselves: quote them there, as in devsh user list --on '@berlin,!fw3'.",
      '',
      'Without --on a line is about the devices chosen with "use", else all connected ones.',
    ].join('\n'),
  examples: ['user list --on @berlin,!fw3', 'connect 10.0.0.[5-9]', 'use @berlin !fw3'],
};
