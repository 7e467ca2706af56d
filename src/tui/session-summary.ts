import type { StepResult } from '../change/verdict.ts';
import { foldResults } from './table/result-fold.ts';

/** What stays in the normal screen after leaving: every change of the session and how it ended. */
export function sessionSummary(results: readonly StepResult[]): string[] {
  const changes = results.filter(
    ({ verdict }) => verdict !== 'unchanged' && verdict !== 'skipped' && verdict !== 'drift',
  );
  if (changes.length === 0) return [];
  const count = changes.length === 1 ? '1 change' : `${changes.length} changes`;
  return [`${count} in this session:`, ...foldResults(changes).map(({ text }) => `  ${text}`)];
}
