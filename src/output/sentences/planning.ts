/** What planning finds: values, records, and what a write would lose. */
export const PLANNING = {
  'bad-value': {
    list: 'not a JSON list, as in ["a", "b"]',
    object: () => 'not a JSON object, as in {"city": "Berlin"}',
    choice: ({ item, values }: { item: string | undefined; values: readonly string[] }) => {
      const more = values.length > MOST.choices ? ' …' : '';
      const choices = `not one of ${values.slice(0, MOST.choices).join(', ')}${more}`;
      return item === undefined ? choices : `${item}: ${choices}`;
    },
    boolean: 'neither true nor false',
    integer: 'not a whole number',
    number: 'not a number',
    less: 'less than {min}',
    more: 'more than {max}',
    long: '{length} characters, {most} at most',
    'read-only': 'read-only',
    'create-only': 'can be set for a new record only',
    null: 'must not be null',
    required: 'required',
    typed:
      '{field}: {problem}, according to {device}; nothing was sent (use --allow invalid to override)',
    several:
      '{problems}; nothing was sent. If the device has changed its fields, "learn {device}" reads them again',
  },
} as const;

const MOST = { choices: 6 };
