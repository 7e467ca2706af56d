import { visible } from '../../../text/visible.ts';
import type { Asked, CompletionShell } from './completion-shell.ts';

/**
 * Both ways in base64: Windows PowerShell loses quotes in arguments, and letters beyond ASCII in what a
 * program prints.
 */
const SCRIPT = `# PowerShell completion for devsh: devsh completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName devsh -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements |
        Select-Object -Skip 1 |
        Where-Object { $_.Extent.EndOffset -lt $cursorPosition } |
        ForEach-Object { if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value } else { $_.Extent.Text } })
    $words += "$wordToComplete".Trim('"', "'")
    $asked = [Convert]::ToBase64String([Text.Encoding]::UTF8.GetBytes($words -join [char]0))
    $answer = devsh __complete powershell $asked 2>$null
    if (-not $answer) { return }
    $lines = [Text.Encoding]::UTF8.GetString([Convert]::FromBase64String($answer)) -split "\`n"
    foreach ($line in $lines) {
        $insert, $shown, $tip = $line -split "\`t"
        if ($insert) { [System.Management.Automation.CompletionResult]::new($insert, $shown, 'ParameterValue', $tip) }
    }
}
`;

export const powershell: CompletionShell = {
  name: 'powershell',
  script: SCRIPT,
  install: [
    'for all shells: devsh completion powershell >> $PROFILE',
    'for this one:   devsh completion powershell | Out-String | Invoke-Expression',
  ],
  read([asked = '']): Asked {
    const words = Buffer.from(asked, 'base64').toString('utf8').split('\0');
    return {
      before: words.slice(0, -1),
      typed: words.at(-1) ?? '',
      // Without an answer PowerShell offers files by itself.
      write({ candidates }) {
        if (candidates.length === 0) return '';
        const lines = candidates.map(({ text, summary = '' }) =>
          [quoted(text), text, visible(summary) || text].join('\t'),
        );
        return `${Buffer.from(lines.join('\n')).toString('base64')}\n`;
      },
    };
  },
};

/** As one literal word: typographic quotes end a string there, too. */
function quoted(text: string): string {
  return /^[\p{L}\p{N}_./:=+-]+$/u.test(text) ? text : `'${text.replace(/['‘’‚‛]/g, '$&$&')}'`;
}
