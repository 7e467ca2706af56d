/** One key of the full screen (or several that do the same) and what it does. */
export interface KeyRow {
  /** By these names the settings know place and action. */
  readonly place: string;
  readonly action: string;
  /** The place in words: "In the table". */
  readonly title: string;
  readonly keys: readonly string[];
  readonly label: string;
  /** The line that does the same. */
  readonly command?: string;
}
