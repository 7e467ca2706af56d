import { join } from 'node:path';
import type { KeyRow } from '../../records/key-row.ts';
import type { TopicBody } from './help-topic.ts';

const KEYS_WIDTH = 24;

export const keys: TopicBody = {
  async text(services) {
    return [
      ...keyLines(await services.keys()),
      `To change one, name the place, the action and its keys in ${join(services.paths.config, 'settings.json')}:`,
      '  {"keys": {"table": {"delete": ["x"], "copy": ["y", "ctrl-y"]}}}',
      'Esc, Ctrl-C, and Enter at the prompt keep what they do.',
      '',
      'The prompt is edited as in emacs and bash; {"editing": "vi"} makes it vi.',
    ].join('\n');
  },
};

/** The keys as they hold for this user, by the place where they count. */
function keyLines(rows: readonly KeyRow[]): string[] {
  const titles = [...new Set(rows.map(({ title }) => title))];
  const width = Math.max(...rows.map(({ action }) => action.length));
  return titles.flatMap((heading) => {
    const members = rows.filter(({ title }) => title === heading);
    const place = members[0]?.place ?? '';
    return [
      `${heading} (keys.${place})`,
      ...members.map(({ keys: bound, action, label, command }) => {
        const names = (bound.length === 0 ? 'no key' : bound.join(', ')).padEnd(KEYS_WIDTH);
        const line = command === undefined ? '' : `  (${command})`;
        return `  ${names}  ${action.padEnd(width)}  ${label}${line}`;
      }),
      '',
    ];
  });
}
