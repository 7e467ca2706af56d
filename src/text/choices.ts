/** The themes of the full screen, for `--theme` and the setting. */
export const THEME_NAMES = ['dark', 'light', 'high-contrast', '16-colour', 'ascii'] as const;
export type ThemeName = (typeof THEME_NAMES)[number];

/** Output formats of data. */
export const FORMAT_NAMES = ['table', 'json', 'jsonl', 'csv', 'yaml'] as const;
