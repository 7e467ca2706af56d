import { isRequired, type Field } from './fields.ts';

/** What Django REST Framework says of fields in the answer to OPTIONS. */
export function metadata(fields: readonly Field[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(fields.map((field) => [field.name, fieldMetadata(field)]));
}

function fieldMetadata(field: Field): Readonly<Record<string, unknown>> {
  const words = field.name.replaceAll('_', ' ');
  const said = {
    type: field.type,
    required: isRequired(field),
    read_only: field.readOnly === true,
    label: words.charAt(0).toUpperCase() + words.slice(1),
  };
  switch (field.type) {
    case 'string':
      return field.readOnly === true ? said : { ...said, max_length: field.maxLength };
    case 'choice':
      return {
        ...said,
        choices: field.choices.map(([value, displayName]) => ({
          value,
          display_name: displayName,
        })),
      };
    case 'integer':
      return { ...said, min_value: field.min, max_value: field.max };
    case 'list': {
      const child = { type: 'string', required: true, read_only: false };
      return { ...said, child: { ...child, max_length: field.maxLength } };
    }
    case 'nested object':
      return { ...said, children: metadata(field.children) };
    case 'boolean':
    case 'datetime':
      return said;
  }
}
