import { join } from 'node:path';
import type { Paths } from '../../settings/paths.ts';

/** The files that a user may want to look at, as the man page tells them. */
export const KEPT_FILES: readonly {
  readonly path: (paths: Paths) => string;
  readonly meaning: string;
}[] = [
  { path: ({ config }) => join(config, 'devices.yaml'), meaning: 'The inventory; yours to edit.' },
  { path: ({ config }) => join(config, 'settings.json'), meaning: 'The settings.' },
  { path: ({ config }) => join(config, 'profiles/'), meaning: 'How devices speak, in YAML.' },
  { path: ({ data }) => join(data, 'known-devices'), meaning: 'The pins of certificates.' },
  { path: ({ data }) => join(data, 'vault.age'), meaning: 'The vault, where there is one.' },
  { path: ({ state }) => join(state, 'history'), meaning: 'The lines typed before.' },
  {
    path: ({ state }) => join(state, 'last-session'),
    meaning: 'The lines that connected to devices; the next start offers them.',
  },
  { path: ({ state }) => join(state, 'runs/'), meaning: 'The journals of runs.' },
  {
    path: ({ cache }) => join(cache, '/'),
    meaning: 'What was learned, and the program as Node compiled it; to be had again.',
  },
];
