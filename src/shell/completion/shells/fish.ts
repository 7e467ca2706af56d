import { visible } from '../../../text/visible.ts';
import { linesOf, type Asked, type CompletionShell } from './completion-shell.ts';
import { argumentsOf, splitLine } from './split-line.ts';

/** fish filters and quotes the candidates by itself; a candidate that ends in = gets no space. */
const SCRIPT = `# fish completion for devsh: devsh completion fish | source
function __devsh_complete
    set -l lines (command devsh __complete fish (commandline -cp | string collect) 2>/dev/null </dev/null)
    set -l word (commandline -ct | string collect)
    if string match -q '*files*' -- $lines[1]
        if string match -qr '^--[^=]+=' -- $word
            set -l option (string replace -r '=.*' = -- $word)
            for file in (__fish_complete_path (string replace -r '^[^=]*=' '' -- $word))
                echo -- $option$file
            end
        else
            __fish_complete_path $word
        end
    end
    set -e lines[1]
    string join -- \\n $lines
end
complete -c devsh -e
complete -c devsh -f -a '(__devsh_complete)'
`;

export const fish: CompletionShell = {
  name: 'fish',
  script: SCRIPT,
  install: ['for all shells: devsh completion fish > ~/.config/fish/completions/devsh.fish'],
  read([line = '']): Asked {
    const { before, typed } = splitLine(line, { inSingle: "'\\", inDouble: '"\\$' });
    return {
      before: argumentsOf(before),
      typed,
      write: ({ candidates, takesFile }) =>
        linesOf(
          takesFile ? ['files'] : [],
          candidates.map(({ text, summary = '' }) => `${text}\t${visible(summary)}`),
        ),
    };
  },
};
