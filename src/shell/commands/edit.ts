import { DEVICES, ROLL_OUT, WRITE } from '../grammar/options.ts';
import { verb, type VerbSpec } from '../grammar/spec.ts';
import { recordKey } from './record-arguments.ts';

/** `user edit KEY…`: records as text in the user's editor, and back as a plan. */
export function edit(resource: string): VerbSpec {
  return verb({
    name: 'edit',
    summary: `Change ${resource}s as text in your editor`,
    args: [{ ...recordKey(resource), isRest: true }],
    options: [...DEVICES, 'profile', ...WRITE, ...ROLL_OUT, 'where', 'only'],
    details:
      'Opens $VISUAL or $EDITOR with one YAML document for each record; records that are the same on\n' +
      'several devices are one. What you changed becomes a plan, which is shown and asked about as\n' +
      'always. Key and ids cannot be edited, secrets are not shown, a document that you remove is left\n' +
      'alone. A field that has changed on the device meanwhile is "drift", and not overwritten.',
    examples: [`${resource} edit alice bob`, `${resource} edit --where lang=xx`],
    async *run(call) {
      const { editRecords } = await import('../records/edit-records.ts');
      yield* editRecords(call, resource);
    },
  });
}
