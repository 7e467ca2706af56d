import { UsageError } from '../errors.ts';

/**
 * The regular expression of `field~regex`, in any case.
 * @throws UsageError at `column` when it is wrong or could take for ever
 */
export function compilePattern(source: string, column: number): RegExp {
  if (repeatsAChoice(source)) {
    throw new UsageError(
      `the pattern '${source}' repeats a group that itself repeats or chooses, which can take for ever`,
      { column },
    );
  }
  try {
    return new RegExp(source, 'iu');
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^.*: /, '') : String(error);
    throw new UsageError(`the pattern '${source}' is wrong: ${reason}`, { column, cause: error });
  }
}

/** `(a+)+`, `(a|a)*`: the patterns that backtrack exponentially. Refuses some harmless ones, too. */
function repeatsAChoice(source: string): boolean {
  const groups: boolean[] = [];
  let isInClass = false;
  for (let index = 0; index < source.length; index += 1) {
    const character = source.charAt(index);
    if (character === '\\') {
      index += 1;
    } else if (isInClass) {
      isInClass = character !== ']';
    } else if (character === '[') {
      isInClass = true;
    } else if (character === '(') {
      groups.push(false);
      // The `?` of `(?:` is no repetition.
      if (source.charAt(index + 1) === '?') index += 1;
    } else if (character === ')') {
      const isVariable = groups.pop() ?? false;
      if (isVariable && /^[*+{]/.test(source.slice(index + 1))) return true;
      if (isVariable && groups.length > 0) groups[groups.length - 1] = true;
    } else if ('*+?{|'.includes(character) && groups.length > 0) {
      groups[groups.length - 1] = true;
    }
  }
  return false;
}
