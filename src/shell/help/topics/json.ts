import type { JsonValue } from '../../../device/value-text.ts';
import type { TopicBody } from './help-topic.ts';

export const json: TopicBody = {
  async text() {
    const schema = JSON.stringify(await schemas(), null, 2);
    return [
      '--json (--format json) prints one document, --format yaml the same as YAML, and --format jsonl one',
      'object a line as results arrive. "schema" says which version a document is: devsh/1. New keys may',
      'come within it; none goes, and none changes its meaning. Decide by "verdict" and by the "code" of an',
      'error, never by a text. Integers are exact, whatever their length; secrets are "***". "notCovered" names',
      'every selected device that was not read, with the code of its reason: nothing else is said of it.',
      '',
      'As JSON Schema (draft 2020-12), "document" for JSON and YAML, "line" for JSON lines; alone it is',
      'what "help json --json" has under "help":',
      '',
      schema,
    ].join('\n');
  },
  data: schemas,
  examples: ['user list --json', 'user list --format jsonl', 'help json --json'],
};

async function schemas(): Promise<JsonValue> {
  const { outputJsonSchema } = await import('../document-schema.ts');
  return outputJsonSchema();
}
