import { visible } from '../../../text/visible.ts';
import { linesOf, type Asked, type CompletionShell } from './completion-shell.ts';

/** (Q) takes quotes off and expands nothing; compadd puts them on again. */
const SCRIPT = `#compdef devsh
# zsh completion for devsh: source <(devsh completion zsh), after compinit
_devsh() {
  local line what
  local -a lines parts values shown open_values open_shown
  lines=("\${(@f)$(command devsh __complete zsh $((CURRENT - 1)) "\${(Q)PREFIX}" "\${(@Q)words}" 2>/dev/null </dev/null)}")
  what=$lines[1]
  for line in "\${(@)lines[2,-1]}"; do
    parts=("\${(@ps:\\t:)line}")
    (( \${#parts} >= 3 )) || continue
    if [[ $parts[1] == open ]]; then
      open_values+=("$parts[2]")
      open_shown+=("$parts[3]")
    else
      values+=("$parts[2]")
      shown+=("$parts[3]")
    fi
  done
  (( \${#values} )) && compadd -V devsh -l -d shown -a -- values
  (( \${#open_values} )) && compadd -V devsh -S '' -l -d open_shown -a -- open_values
  if [[ $what == *files* ]]; then
    [[ $PREFIX == --*=* ]] && compset -P '*='
    _files
  fi
  (( compstate[nmatches] ))
}
if [[ $funcstack[1] == _devsh ]]; then
  _devsh "$@"
else
  compdef _devsh devsh
fi
`;

export const zsh: CompletionShell = {
  name: 'zsh',
  script: SCRIPT,
  install: [
    'for all shells: devsh completion zsh > "${fpath[1]}/_devsh", then a new zsh',
    'or in ~/.zshrc, behind compinit: source <(devsh completion zsh)',
  ],
  read([count = '', typed = '', ...words]): Asked {
    return {
      before: words.slice(1, Number(count)),
      typed,
      write({ candidates, takesFile }) {
        const width = Math.max(0, ...candidates.map(({ text }) => text.length));
        return linesOf(
          takesFile ? ['files'] : [],
          candidates.map(({ text, summary, continues }) =>
            [
              continues === true ? 'open' : 'whole',
              text,
              summary === undefined || summary === ''
                ? text
                : `${text.padEnd(width)}  -- ${visible(summary)}`,
            ].join('\t'),
          ),
        );
      },
    };
  },
};
