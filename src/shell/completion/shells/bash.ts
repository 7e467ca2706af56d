import { visible } from '../../../text/visible.ts';
import type { Candidate } from '../../grammar/spec.ts';
import { linesOf, type Answer, type Asked, type CompletionShell } from './completion-shell.ts';
import { argumentsOf, splitLine, type Quote } from './split-line.ts';

/** COMP_TYPE when candidates are only listed, and none is put into the line. */
const LISTING = '63';

/** Longer explanations would be wrapped between the candidates. */
const LONGEST_SUMMARY = 60;

/**
 * The line goes out as it is, and the candidates come back quoted: only devsh takes the quotes off and
 * on, and the script evaluates nothing. Without `mapfile` and `compopt`, which bash 3.2 (macOS) lacks.
 */
const SCRIPT = `# bash completion for devsh: eval "$(devsh completion bash)"
_devsh() {
  COMPREPLY=()
  # What stands behind < or > is a file, whatever devsh is asked.
  case "\${COMP_WORDS[COMP_CWORD-1]}" in *[\\<\\>]*)
    type compopt >/dev/null 2>&1 && compopt -o default
    return ;;
  esac
  local what candidate
  {
    IFS= read -r what
    while IFS= read -r candidate; do COMPREPLY+=("$candidate"); done
  } < <(command devsh __complete bash "$COMP_TYPE" "$COMP_WORDBREAKS" "\${COMP_LINE:0:COMP_POINT}" 2>/dev/null </dev/null)
  type compopt >/dev/null 2>&1 || return 0
  case "$what" in *nospace*) compopt -o nospace ;; esac
  # Names of files are quoted by bash; candidates must not be, they are already.
  case "$what" in *files*) compopt -o default ;; esac
}
complete -F _devsh devsh
`;

export const bash: CompletionShell = {
  name: 'bash',
  script: SCRIPT,
  install: [
    'for all shells:  devsh completion bash > ~/.local/share/bash-completion/completions/devsh',
    'or in ~/.bashrc: eval "$(devsh completion bash)"',
  ],
  read([type = '', breaks = '', line = '']): Asked {
    const { before, typed, marks, open } = splitLine(line, { inSingle: '', inDouble: '"\\$`' });
    // bash replaces only what stands behind the last of its word breaks: `de` of `lang=de`.
    const lastBreak = marks.findLast(
      ({ character, isQuoted }) =>
        !isQuoted && (breaks.includes(character) || character === '"' || character === "'"),
    );
    // A quote is no part of the word; @ and $ are the first letter of what is replaced.
    const isInFront = '"\'@$'.includes(lastBreak?.character ?? '');
    const kept = lastBreak === undefined ? 0 : lastBreak.at + (isInFront ? 0 : 1);
    return {
      before: argumentsOf(before),
      typed,
      write: (answer) => write(answer, { typed, kept, open, isListing: type === LISTING }),
    };
  },
};

interface Place {
  readonly typed: string;
  /** How much of the word bash keeps before the candidate. */
  readonly kept: number;
  readonly open: Quote | undefined;
  readonly isListing: boolean;
}

function write({ candidates, takesFile }: Answer, place: Place): string {
  const fitting = candidates.filter(({ text }) => text.startsWith(place.typed));
  const what = [
    ...(takesFile ? ['files'] : []),
    ...(fitting.some(({ continues }) => continues === true) ? ['nospace'] : []),
  ];
  return linesOf(
    what,
    fitting.map((one) => (place.isListing ? listed(one, place) : quoted(one, place))),
  );
}

function listed({ text, summary }: Candidate, { kept }: Place): string {
  if (summary === undefined || summary === '') return text.slice(kept);
  const cut = summary.length > LONGEST_SUMMARY ? `${summary.slice(0, LONGEST_SUMMARY)}…` : summary;
  return `${text.slice(kept)}  (${visible(cut)})`;
}

function quoted({ text }: Candidate, { kept, open }: Place): string {
  const rest = text.slice(kept);
  switch (open) {
    case "'":
      return rest.replaceAll("'", "'\\''");
    case '"':
      return rest.replace(/["\\$`]/g, '\\$&');
    case undefined:
      return rest.replace(/[^\p{L}\p{N}\p{M}_@%+=:,./-]/gu, '\\$&').replace(/^=/, '\\=');
  }
}
