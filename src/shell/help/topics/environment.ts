import { ENVIRONMENT } from '../environment.ts';
import { twoColumns, type TopicBody } from './help-topic.ts';

export const environment: TopicBody = {
  text: ({ paths }) =>
    [
      ...ENVIRONMENT.flatMap(({ title, variables }) => [
        title,
        ...twoColumns(variables.map(({ name, meaning }): [string, string] => [name, meaning])),
        '',
      ]),
      'Colours: --color, --no-color, then NO_COLOR, FORCE_COLOR, CLICOLOR_FORCE, CLICOLOR, TERM=dumb; the first that',
      'says something decides. Otherwise there are colours where stdout is a terminal.',
      'An option comes before a variable, and a variable before the settings.',
      '',
      'Here and now the files are in',
      ...twoColumns([
        ['settings, inventory', paths.config],
        ['pins, vault', paths.data],
        ['history, runs', paths.state],
        ['cache', paths.cache],
      ]),
      'Elsewhere: macOS ~/Library/Preferences, ~/Library/Application Support, ~/Library/Caches; Windows',
      '%APPDATA% and %LOCALAPPDATA%. A relative path in an XDG variable is ignored.',
    ].join('\n'),
  examples: ['info'],
};
