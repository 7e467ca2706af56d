import { join } from 'node:path';
import type { TopicBody } from './help-topic.ts';

export const profiles: TopicBody = {
  text: ({ paths }) =>
    [
      'A profile is what devsh knows of how a device speaks: paths, encodings, ids, fields. Each fact says',
      'where it comes from: documented (the API document), observed (on this device), assumed (convention),',
      'configured (you). "profile fw1" shows them all.',
      '',
      '1. get /api/user/ --on fw1          what the device really answers',
      '2. learn fw1                        asks it, without writing: GET /api/, OPTIONS, Allow',
      '3. user list --on fw1 --profile drf try one that is built in: documented, drf, generic-rest, form-action',
      '4. profile set fw1 FACT=VALUE…      state single facts',
      `5. Or write a file, ${join(paths.config, 'profiles', 'NAME.yaml')}:`,
      '',
      '     extends: documented',
      '     update: {method: PUT, path: "{item}", encoding: json}',
      '',
      '   "profile check FILE" finds mistakes, "profile schema" helps your editor, and "profile: NAME" in',
      '   devices.yaml uses it for a device or a group.',
      '',
      'What is assumed is said in each plan; once a read-back has proved it, it is observed.',
      'No profile can let a DELETE go to a whole collection, or let a write follow a redirect.',
    ].join('\n'),
  examples: ['profile fw1', 'learn fw1', 'profile set fw1 update.method=PUT update.path={item}'],
};
