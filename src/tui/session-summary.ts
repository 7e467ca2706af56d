import type { StepResult } from '../change/verdict.ts';
import { foldResults } from './table/result-fold.ts';
import { counted } from '../text/one-line.ts';

/** What stays in the normal screen after leaving: every change of the session and how it ended. */
export function sessionSummary(results: readonly StepResult[]): string[] {
  const changes = results.filter(
    ({ verdict }) => verdict !== 'unchanged' && verdict !== 'skipped' && verdict !== 'drift',
  );
  if (changes.length === 0) return [];
  const count = counted(changes.length, 'change');
  return [`${count} in this session:`, ...foldResults(changes).map(({ text }) => `  ${text}`)];
}
