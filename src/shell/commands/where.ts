import { oneLine } from '../../text/one-line.ts';
import { UsageError } from '../../errors.ts';
import { parseChoice, type Filter } from '../../fleet/filter.ts';
import type { Word } from '../grammar/parse.ts';

/** What `--where` chooses by. Throws UsageError, which points nowhere: its columns count in the filter. */
export function whereFilter(text: string): Filter {
  if (text.trim() === '') throw new UsageError('--where needs a filter: --where lang=de');
  try {
    return parseChoice(text);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(`--where: ${error.message}`, { suggestions: error.suggestions });
  }
}

export function bothKeyAndWhere(title: string, key: Word): UsageError {
  return new UsageError(
    `${title} takes KEY or --where, not both: leave out "${oneLine(key.text)}" or --where`,
    { column: key.start },
  );
}
