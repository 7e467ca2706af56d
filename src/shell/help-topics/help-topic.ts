import type { Services } from '../session.ts';

/** What `help NAME` explains besides commands. */
export interface HelpTopic {
  readonly name: string;
  /** One line for the list of topics. */
  readonly summary: string;
  /** What stands below the heading, 100 columns at most. */
  text(services: Pick<Services, 'paths' | 'keys'>): string | Promise<string>;
  /** Lines to try, as they are typed at the prompt. */
  readonly examples?: readonly string[];
}

/** Two columns, indented. */
export function twoColumns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(0, ...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}
