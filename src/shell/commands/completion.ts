import { UsageError } from '../../errors.ts';
import { oneLine } from '../../text/one-line.ts';
import { suggest } from '../../text/suggest.ts';
import type { CompletionShell } from '../completion/shells.ts';
import type { Services } from '../services.ts';
import { verb, type CommandSpec } from '../command.ts';

const SHELL_NAMES: readonly CompletionShell['name'][] = ['bash', 'zsh', 'fish', 'powershell'];

export const completion: CommandSpec = {
  name: 'completion',
  summary: 'Complete devsh lines in your shell',
  section: 'Shell',
  verbs: [
    verb({
      name: '',
      summary: 'Print the completion script for a shell',
      args: [
        {
          name: 'SHELL',
          summary: `${SHELL_NAMES.join(', ')}; without it: how to set up yours`,
          complete: () => SHELL_NAMES.map((text) => ({ text })),
        },
      ],
      options: [],
      details:
        'Tab completes commands, options, devices and groups of the inventory, and the users last read. It\n' +
        'only reads files: it asks no device, and the shell never runs a name that it completes.',
      examples: ['completion', 'completion bash', 'completion zsh'],
      async *run({ args, shell: shellSession }) {
        const [word] = args.words('SHELL');
        const { COMPLETION_SHELLS } = await import('../completion/shells.ts');
        if (word === undefined) {
          const text = setUp(COMPLETION_SHELLS, shellSession.services);
          yield { kind: 'text', name: 'completion', text };
          return;
        }
        const shell = COMPLETION_SHELLS.find(({ name }) => name === word.text);
        if (shell === undefined) {
          throw new UsageError(
            `there is no completion for "${oneLine(word.text)}"; the shells are ${SHELL_NAMES.join(', ')}`,
            { column: word.start, suggestions: suggest(word.text, SHELL_NAMES) },
          );
        }
        yield { kind: 'text', name: 'completion', text: shell.script.trimEnd() };
      },
    }),
  ],
};

/** The steps that set up completion in these shells. */
function setUp(shells: readonly CompletionShell[], { env }: Services): string {
  const path = env['SHELL'] ?? (env['PSModulePath'] && 'powershell');
  const own = shells.find(({ name }) => name === path?.split('/').at(-1));
  const others = SHELL_NAMES.filter((name) => name !== own?.name).join(', ');
  return own === undefined
    ? shells.map(stepsFor).join('\n\n')
    : `${stepsFor(own)}\n\nFor ${others}: devsh completion SHELL`;
}

function stepsFor({ name, install }: CompletionShell): string {
  return [`Completion for ${name}`, ...install.map((line) => `  ${line}`)].join('\n');
}
