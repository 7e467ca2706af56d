/** The JSON schema of change sets, for editors. `parseChangeSet` says the same with line and column. */
export function changeSetJsonSchema(): unknown {
  const text = { type: 'string', minLength: 1 };
  const key = { ...text, description: 'The natural key or an id of one record' };
  const where = { ...text, description: 'A filter that selects records, as in lang=de' };
  const fields = {
    type: 'object',
    minProperties: 1,
    description: 'Fields and their new values; FIELD:= takes JSON as a text',
  };
  const target = { oneOf: [{ required: ['key'] }, { required: ['where'] }] };
  const parts = {
    add: { properties: { key, fields }, required: ['fields'] },
    set: { properties: { key, where, fields }, required: ['fields'], ...target },
    delete: { properties: { key, where }, required: [], ...target },
  };
  const change = Object.entries(parts).flatMap(([action, part]) => {
    const { properties, required, ...rest } = part;
    const resource = { ...text, description: 'The resource of the records, such as user' };
    const spellings = [{ [action]: resource }, { action: { const: action }, resource }];
    return spellings.map((spelling) => ({
      type: 'object',
      properties: { ...spelling, ...properties },
      required: [...Object.keys(spelling), ...required],
      additionalProperties: false,
      ...rest,
    }));
  });
  const changes = { type: 'array', minItems: 1, items: { anyOf: change } };
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'A change set of devsh',
    anyOf: [
      changes,
      {
        type: 'object',
        properties: { changes },
        required: ['changes'],
        additionalProperties: false,
      },
    ],
  };
}
