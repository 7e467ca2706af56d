import { UsageError } from '../../errors.ts';
import { oneLine } from '../../text/one-line.ts';
import { suggest } from '../../text/suggest.ts';
import { command } from '../command.ts';

const SCHEMAS = new Map<string, () => Promise<unknown>>([
  ['devices', async () => (await import('../../fleet/inventory-schema.ts')).inventoryJsonSchema()],
  [
    'changes',
    async () => (await import('../../change/change-set-schema.ts')).changeSetJsonSchema(),
  ],
  ['profile', async () => (await import('../../device/profile-schema.ts')).profileJsonSchema()],
  [
    'settings',
    async () => (await import('../../settings/settings-schema.ts')).settingsJsonSchema(),
  ],
]);

const NAMES = [...SCHEMAS.keys()];
const LIST = NAMES.join(', ');

export const schema = command({
  name: 'schema',
  section: 'Shell',
  summary: 'Print the JSON schema of devices.yaml, change sets, profile files or settings.json',
  args: [
    {
      name: 'NAME',
      summary: LIST,
      isRequired: true,
      complete: () => NAMES.map((text) => ({ text })),
    },
  ],
  changes: 'nothing',
  details: 'For editors. "help json" prints the schema of what devsh writes with --json.',
  examples: ['schema devices', 'schema changes'],
  async *run({ args }) {
    const [word] = args.words('NAME');
    const name = args.required('NAME');
    const load = SCHEMAS.get(name);
    if (load === undefined) {
      const message = `there is no schema "${oneLine(name)}"; the schemas are ${LIST}`;
      throw new UsageError(message, { column: word?.start, suggestions: suggest(name, NAMES) });
    }
    yield { kind: 'text', name: 'jsonSchema', text: JSON.stringify(await load(), null, 2) };
  },
});
