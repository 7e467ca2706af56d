/** How data is printed. */
export const FORMAT_NAMES = ['table', 'json', 'jsonl', 'csv', 'yaml'] as const;
