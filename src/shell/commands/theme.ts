import { UsageError } from '../../errors.ts';
import { suggest } from '../../text/suggest.ts';
import { THEME_NAMES, type ThemeName } from '../../text/choices.ts';
import { type ArgSpec, command } from '../command.ts';
import { table, success } from '../output.ts';

const GROUNDS: Readonly<Record<ThemeName, string>> = {
  dark: '256 colours on a dark background',
  light: '256 colours on a light background',
  'high-contrast': 'few, strong colours on a black background',
  '16-colour': 'the 16 colours of the terminal, on a dark background',
  ascii: 'as 16-colour, with ASCII characters only',
};

const AUTO = 'auto';
const AUTO_SUMMARY = 'fits the terminal';

const NAME: ArgSpec = {
  name: 'NAME',
  summary: `${THEME_NAMES.join(', ')}, or ${AUTO}`,
  complete: () => [
    ...THEME_NAMES.map((text) => ({ text, summary: GROUNDS[text] })),
    { text: AUTO, summary: AUTO_SUMMARY },
  ],
};

export const theme = command({
  name: 'theme',
  brief: 'Set the theme of the full screen',
  section: 'Shell',
  summary: 'Set the theme of the full screen and keep it; without NAME: list the themes',
  args: [NAME],
  details: `"${AUTO}" resets it. --theme sets it for one session.`,
  examples: ['theme', 'theme light', 'theme auto'],
  async *run({ args, shell }) {
    const { settings } = shell.services;
    const [word] = args.words('NAME');
    if (word === undefined) {
      const present = settings.get('theme') ?? AUTO;
      yield table(
        'themes',
        ['theme', 'set', 'looks'],
        [
          ...THEME_NAMES.map((name) => ({ theme: name, set: '', looks: GROUNDS[name] })),
          { theme: AUTO, set: '', looks: AUTO_SUMMARY },
        ].map((row) => (row.theme === present ? { ...row, set: 'yes' } : row)),
      );
      return;
    }
    const name = THEME_NAMES.find((one) => one === word.text);
    if (name === undefined && word.text !== AUTO) {
      const names = [...THEME_NAMES, AUTO];
      throw new UsageError(`there is no theme "${word.text}"; the themes are ${names.join(', ')}`, {
        column: word.start,
        suggestions: suggest(word.text, names),
      });
    }
    await settings.set('theme', name);
    yield success(`theme ${word.text}, kept for the next sessions`);
  },
});
