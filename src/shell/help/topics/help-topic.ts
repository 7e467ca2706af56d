import type { JsonValue } from '../../../device/value-text.ts';
import type { Services } from '../../session.ts';

/** What `help NAME` says of something that is no command. */
export interface TopicBody {
  /** What stands below the heading, 100 columns at most. */
  readonly text: (services: Pick<Services, 'paths' | 'keys'>) => string | Promise<string>;
  /** The same for programs: JSON and YAML have this in place of the text. */
  readonly data?: () => Promise<JsonValue>;
  /** Lines to try, as they are typed at the prompt. */
  readonly examples?: readonly string[];
}

/** Two columns, indented. */
export function twoColumns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(0, ...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}
