import type { Candidate } from '../grammar/option.ts';
import { visible } from '../../text/visible.ts';

/** A shell that completes the words of devsh: its request and response formats. */
export interface CompletionShell {
  readonly name: 'bash' | 'zsh' | 'fish';
  /** Lines for the user that set up completion permanently. */
  readonly install: readonly string[];
  /** The script for the shell to load. It calls `devsh __complete NAME …` and executes nothing of its output. */
  readonly script: string;
  /** Parses the arguments behind `devsh __complete NAME`. */
  read(args: readonly string[]): Asked;
}

export interface Asked {
  /** The words before the one at the cursor, without the program name and without quotes. */
  readonly before: readonly string[];
  /** The typed part of the word, without quotes. */
  readonly typed: string;
  write(response: Answer): string;
}

export interface Answer {
  readonly candidates: readonly Candidate[];
  /** A file name is possible here: the shell completes these itself. */
  readonly takesFile: boolean;
}

/** Lines for a script: first the instructions, then one candidate each. */
function linesOf(words: readonly string[], lines: readonly string[]): string {
  return [words.join(' '), ...lines].map((line) => `${line}\n`).join('');
}

/** The words of a line up to the cursor, split by the rules of a Unix shell, without expansion. */
interface SplitLine {
  readonly before: readonly string[];
  /** The word at the cursor, without quotes. */
  readonly typed: string;
  /** Its characters, each with its position in `typed` and whether it is quoted. */
  readonly marks: readonly Mark[];
  /** The quote that is open at the cursor. */
  readonly open: Quote | undefined;
}

type Quote = '"' | "'";

interface Mark {
  readonly character: string;
  /** Length of `typed` before it. */
  readonly at: number;
  readonly isQuoted: boolean;
}

/** The characters that a backslash escapes inside quotes. */
interface Quoting {
  readonly inSingle: string;
  readonly inDouble: string;
}

function splitLine(line: string, quoting: Quoting): SplitLine {
  const before: string[] = [];
  let typed = '';
  let marks: Mark[] = [];
  let open: Quote | undefined;
  let hasWord = false;
  for (let at = 0; at < line.length; at += 1) {
    const character = line.charAt(at);
    const next = line.charAt(at + 1);
    const escapable = open === "'" ? quoting.inSingle : quoting.inDouble;
    const isEscape = character === '\\' && (open === undefined || escapable.includes(next));
    if (open === undefined && /\s/.test(character)) {
      if (hasWord) before.push(typed);
      typed = '';
      marks = [];
      hasWord = false;
      continue;
    }
    hasWord = true;
    if (isEscape && next !== '') {
      at += 1;
      marks.push({ character: next, at: typed.length, isQuoted: true });
      typed += next;
    } else if (character === open) {
      open = undefined;
    } else if (open === undefined && (character === '"' || character === "'")) {
      open = character;
      marks.push({ character, at: typed.length, isQuoted: false });
    } else if (!isEscape) {
      marks.push({ character, at: typed.length, isQuoted: open !== undefined });
      typed += character;
    }
  }
  return { before, typed, marks, open };
}

/** Drops what precedes the arguments: variables for this call, and the program. */
function argumentsOf(words: readonly string[]): readonly string[] {
  const program = words.findIndex((word) => !/^[A-Za-z_]\w*=/.test(word));
  return program === -1 ? [] : words.slice(program + 1);
}

/** The value of COMP_TYPE when bash lists candidates and inserts none. */
const LISTING = '63';

/** Longer summaries would wrap between the candidates. */
const LONGEST_SUMMARY = 60;

/** Only devsh handles quotes, and the script evaluates nothing. Works in bash 3.2, without `mapfile` and `compopt`. */
const BASH_SCRIPT = `# bash completion for devsh: eval "$(devsh completion bash)"
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
  script: BASH_SCRIPT,
  install: [
    'for all shells:  mkdir -p ~/.local/share/bash-completion/completions',
    '                 devsh completion bash > ~/.local/share/bash-completion/completions/devsh',
    'or in ~/.bashrc: eval "$(devsh completion bash)"',
  ],
  read([type = '', breaks = '', line = '']): Asked {
    const { before, typed, marks, open } = splitLine(line, { inSingle: '', inDouble: '"\\$`' });
    // bash replaces only the part behind the last word break: `de` of `lang=de`.
    const lastBreak = marks.findLast(
      ({ character, isQuoted }) =>
        !isQuoted && (breaks.includes(character) || character === '"' || character === "'"),
    );
    // bash replaces a quote, @ or $ together with the part behind it.
    const isInFront = '"\'@$'.includes(lastBreak?.character ?? '');
    const kept = lastBreak === undefined ? 0 : lastBreak.at + (isInFront ? 0 : 1);
    return {
      before: argumentsOf(before),
      typed,
      write: (response) =>
        writeForBash(response, { typed, kept, open, isListing: type === LISTING }),
    };
  },
};

interface Place {
  readonly typed: string;
  /** Length of the word part that bash keeps before the candidate. */
  readonly kept: number;
  readonly open: Quote | undefined;
  readonly isListing: boolean;
}

function writeForBash({ candidates, takesFile }: Answer, place: Place): string {
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

/** In zsh, (Q) removes quotes without expansion, and compadd adds them again. */
const ZSH_SCRIPT = `#compdef devsh
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
  script: ZSH_SCRIPT,
  install: [
    'for all shells: devsh completion zsh > "${fpath[1]}/_devsh", then a new zsh',
    'or in ~/.zshrc, after compinit: source <(devsh completion zsh)',
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

/** fish filters and quotes the candidates itself; a candidate that ends in = gets no space. */
const FISH_SCRIPT = `# fish completion for devsh: devsh completion fish | source
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
  script: FISH_SCRIPT,
  install: [
    'for all shells: mkdir -p ~/.config/fish/completions',
    '                devsh completion fish > ~/.config/fish/completions/devsh.fish',
  ],
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

/** In the order of `SHELL_NAMES`. */
export const COMPLETION_SHELLS: readonly CompletionShell[] = [bash, zsh, fish];
