import { quoteLine, parseLine } from '../../text/words.ts';
import { passwordSpan } from '../../text/address-password.ts';
import { mayBeSecretField } from '../../device/secret-fields.ts';

/** A name, quoted as one likes, in front of `=`, `:` or an operator of a filter. */
const FIELD = /(?<![\w.\\'"-])([\w.\\'"-]+)\s*([!~]?=|[:~])/g;

/**
 * A line as it is shown while and after it is typed: dots in place of the values of secret fields
 * (`password=…`) and of the password in an address. As long as the line, so that columns stay the same.
 */
export function hideSecrets(line: string): string {
  const { words } = parseLine(line);
  const comment = { start: words.at(-1)?.end ?? 0, end: line.length };
  let shown = line;
  for (const { start, end } of [...words, comment]) {
    const word = line.slice(start, end);
    const login = passwordSpan(word);
    if (login !== undefined) shown = dotted(shown, start + login.start, start + login.end);
    const secret = secretIn(word);
    if (secret === undefined) continue;
    shown = dotted(shown, start + secret.start, secret.goesOn ? line.length : end);
  }
  return shown;
}

function dotted(line: string, from: number, until: number): string {
  return line.slice(0, from) + '•'.repeat(until - from) + line.slice(until);
}

/**
 * Where the value of the first secret field in a word begins. `goesOn`: a name with a colon and
 * nothing behind it, as in `Authorization: Token …`.
 */
function secretIn(word: string): { start: number; goesOn: boolean } | undefined {
  for (const { index, 0: text, 1: name = '', 2: operator } of word.matchAll(FIELD)) {
    const start = index + text.length;
    if (!mayBeSecretField(name.replace(/["'\\]/g, ''))) continue;
    return { start, goesOn: operator === ':' && start === word.length };
  }
  return undefined;
}

/** Anybody on this machine can list the arguments of a process: a title without secrets takes their place. */
export function hideArguments(argv: readonly string[]): void {
  if (!argv.some((word) => /[=:~]/.test(word))) return;
  const typed = quoteLine(argv);
  const shown = hideSecrets(typed);
  if (shown !== typed) process.title = `devsh ${shown}`;
}
