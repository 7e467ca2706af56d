import { UsageError } from '../../errors.ts';
import { SETTING_ROWS, type SettingName } from '../../settings/settings-table.ts';
import { isInFile, originText } from '../../settings/settings.ts';
import { THEME_NAMES } from '../../text/choices.ts';
import { insteadOfName } from '../../text/former-names.ts';
import { oneLine } from '../../text/one-line.ts';
import { suggest } from '../../text/suggest.ts';
import type { Word } from '../../text/words.ts';
import { type ArgSpec, type Call, type CommandSpec, verb } from '../command.ts';
import { hideSecrets } from '../grammar/hide-secrets.ts';
import { DEVICES } from '../grammar/options.ts';
import { info, type Output, success, table, warning } from '../output.ts';

const NAME: ArgSpec = {
  name: 'NAME',
  summary: 'a setting, as "config list" shows it',
  isRequired: true,
  complete: () => SETTING_ROWS.map(([text, { summary }]) => ({ text, summary })),
};

export const config: CommandSpec = {
  name: 'config',
  synonyms: ['settings'],
  summary: 'Show and change your settings',
  section: 'Shell',
  defaultVerb: 'list',
  verbs: [
    verb({
      name: 'list',
      summary: 'Show each setting, its value, and where the value comes from',
      options: [...DEVICES],
      changes: 'nothing',
      details:
        'The first of these sources that has a value wins: an option of the line, a variable, the nearest\n' +
        '.devsh.json (which may only set what is harmless), your settings.json, the default.',
      async *run({ shell, given }) {
        const { configRows } = await import('../help/environment.ts');
        const columns = ['setting', 'value', { key: 'origin', title: 'FROM' }];
        yield table('config', columns, configRows(shell.services, given));
      },
    }),
    verb({
      name: 'get',
      summary: 'Print the value of one setting',
      args: [NAME],
      changes: 'nothing',
      examples: ['config get theme'],
      async *run({ args, shell, given }) {
        const name = settingNamed(args.words('NAME'));
        const { configRows, withoutSecrets } = await import('../help/environment.ts');
        const row = configRows(shell.services, given).find(({ setting }) => setting === name);
        const text = row?.value ?? '';
        yield {
          kind: 'text',
          name: 'value',
          text,
          data: withoutSecrets(shell.services.settings.get(name)) ?? text,
        };
      },
    }),
    verb({
      name: 'set',
      summary: 'Change one setting in your settings.json',
      args: [
        NAME,
        {
          name: 'VALUE',
          summary: 'text, a number, true, false, or JSON',
          isRequired: true,
          complete: ({ given: [name] }) =>
            name === 'theme' ? THEME_NAMES.map((text) => ({ text })) : [],
        },
      ],
      details:
        'A list or an object is JSON: config set columns \'{"drf/user": ["username", "lang"]}\'.\n' +
        'A value that the setting cannot have is refused. devsh keeps no secrets in settings.',
      examples: ['config set theme light', 'config set timeoutMs 5000', 'config set readOnly true'],
      async *run(call) {
        const name = settingNamed(call.args.words('NAME'));
        const [word] = call.args.words('VALUE');
        const text = word?.text ?? '';
        if (hideSecrets(text) !== text)
          throw new UsageError(
            `${name} contains a secret, and devsh keeps no secrets in settings: "login --to keychain" or "vault" keeps logins`,
            { column: word?.start },
          );
        if (name === 'timeoutMs' && Number(text) > 0 && Number(text) < 100) {
          // The number may be in seconds, as in `--timeout 20`.
          throw new UsageError(`timeoutMs is in milliseconds, and ${text} ms are too short`, {
            column: word?.start,
            suggestions: [`config set timeoutMs ${Number(text) * 1000}`],
          });
        }
        const { parseSetting } = await import('../../settings/settings-schema.ts');
        const { settings } = call.shell.services;
        await settings.set(name, parseSetting(name, text, word?.start));
        yield* kept(call, name, `${name} is now ${oneLine(text)}`);
      },
    }),
    verb({
      name: 'unset',
      summary: 'Remove one setting from your settings.json, so that the default applies',
      args: [NAME],
      examples: ['config unset theme'],
      async *run(call) {
        const name = settingNamed(call.args.words('NAME'));
        const { settings } = call.shell.services;
        if (!(await isInFile(settings.path, name))) {
          yield info(`${name} is not in ${settings.path}: nothing was changed`);
          return;
        }
        await settings.set(name, undefined);
        yield* kept(call, name, `${name} is no longer in ${settings.path}`);
      },
    }),
  ],
};

function settingNamed([word]: readonly Word[]): SettingName {
  const names = SETTING_ROWS.map(([name]) => name);
  const found = names.find((name) => name === word?.text);
  if (found !== undefined) return found;
  const text = word?.text ?? '';
  const advice = insteadOfName(text) ?? '; "config list" lists them';
  throw new UsageError(`there is no setting "${oneLine(text)}"${advice}`, {
    column: word?.start,
    suggestions: suggest(text, names),
  });
}

/** Reports a change, and warns if another source wins over it. */
function* kept({ shell, io }: Call, name: SettingName, text: string): Generator<Output> {
  const isLater = io.isPrompt === true && name !== 'theme';
  yield success(isLater ? `${text}; it applies from the next start at the latest` : text);
  const origin = shell.services.settings.origin(name);
  if (origin.kind === 'user' || origin.kind === 'default') return;
  yield warning(`here ${originText(origin)} sets ${name} and wins over your settings`);
}
