export const THEME_NAMES = ['dark', 'light', 'high-contrast', '16-colour', 'ascii'] as const;
export type ThemeName = (typeof THEME_NAMES)[number];

export const FORMAT_NAMES = ['table', 'json', 'jsonl', 'csv', 'yaml'] as const;
