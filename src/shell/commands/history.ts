import { command } from '../command.ts';
import { table } from '../output.ts';

export const history = command({
  name: 'history',
  brief: 'Show the lines typed before',
  section: 'Shell',
  summary: 'Show the lines typed before, oldest first',
  changes: 'nothing',
  details:
    'Lines with a secret in them (password=…) and lines that begin with a space are not kept.',
  async *run({ session }) {
    const lines = await session.services.history.load();
    yield table(
      'history',
      [
        { key: 'number', title: '#' },
        { key: 'line', title: 'LINE' },
      ],
      lines.map((line, index) => ({ number: index + 1, line })),
    );
  },
});
