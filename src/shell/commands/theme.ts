import { UsageError } from '../../errors.ts';
import { suggest } from '../../text/suggest.ts';
import { THEME_NAMES, type ThemeName } from '../../text/choices.ts';
import { type ArgSpec, command } from '../command.ts';
import { table, success } from '../output.ts';

const GROUNDS: Readonly<Record<ThemeName, string>> = {
  dark: '256 colours on a dark ground',
  light: '256 colours on a light ground',
  'high-contrast': 'few and strong colours on a black ground',
  '16-colour': 'the 16 colours of the terminal, on a dark ground',
  ascii: 'the same, with no signs but those of ASCII',
};

const AUTO = 'auto';
const AUTO_SUMMARY = 'what fits to the terminal';

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
  brief: 'Choose the looks of the full screen',
  section: 'Shell',
  summary: 'Choose the looks of the full screen, at once and for the next time; alone: list them',
  args: [NAME],
  details: `"${AUTO}" takes the choice back: ${AUTO_SUMMARY}. --theme holds for one session only.`,
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
    yield success(`theme ${word.text}, kept for the next time`);
  },
});
