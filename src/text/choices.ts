/** The looks of the full screen, for `--theme` and the setting. */
export const THEME_NAMES = ['dark', 'light', 'high-contrast', '16-colour', 'ascii'] as const;
export type ThemeName = (typeof THEME_NAMES)[number];

/** How data is printed. */
export const FORMAT_NAMES = ['table', 'json', 'jsonl', 'csv', 'yaml'] as const;
