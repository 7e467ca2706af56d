import tseslint from 'typescript-eslint';

/**
 * Imports point one way (docs/architecture.md):
 * cli -> main -> tui | output -> shell -> change -> fleet -> device -> errors.
 * Each folder lists the folders it must not know.
 */
const mustNotKnow = {
  device: ['fleet', 'change', 'credentials', 'settings', 'shell', 'output', 'tui', 'simulator'],
  fleet: ['change', 'credentials', 'settings', 'shell', 'output', 'tui', 'simulator'],
  change: ['credentials', 'settings', 'shell', 'output', 'tui', 'simulator'],
  credentials: ['fleet', 'change', 'shell', 'output', 'tui', 'simulator'],
  settings: ['change', 'credentials', 'shell', 'output', 'tui', 'simulator'],
  shell: ['output', 'tui', 'simulator'],
  output: ['tui', 'simulator'],
  tui: ['device', 'simulator', 'credentials', 'settings'],
  api: ['credentials', 'shell', 'output', 'tui', 'simulator'],
  os: [
    'device',
    'fleet',
    'change',
    'credentials',
    'settings',
    'shell',
    'output',
    'plain',
    'tui',
    'api',
    'simulator',
  ],
  simulator: ['fleet', 'change', 'credentials', 'settings', 'shell', 'output', 'tui'],
};

/** Below the terminal nobody may draw: no React, no Ink. */
const headless = [
  'device',
  'fleet',
  'change',
  'credentials',
  'settings',
  'shell',
  'simulator',
  'api',
];

const directions = Object.entries(mustNotKnow).map(([folder, forbidden]) => ({
  files: [`src/${folder}/**`],
  rules: {
    'no-restricted-imports': [
      'error',
      {
        paths: headless.includes(folder)
          ? ['react', 'ink'].map((name) => ({ name, message: `src/${folder} draws nothing.` }))
          : [],
        patterns: forbidden.map((other) => ({
          // What a record is, everybody knows.
          regex: `^(\\.\\./)+${other}/(?!record\\.ts$)`,
          message: `src/${folder} must not import src/${other} (docs/architecture.md).`,
        })),
      },
    ],
    ...(headless.includes(folder) && {
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'stdout', message: 'Only main and tui own the terminal.' },
        { object: 'process', property: 'exit', message: 'Only main ends the process.' },
      ],
    }),
  },
}));

export default tseslint.config(
  { ignores: ['dist', 'coverage'] },
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      // Numbers in messages are clear as they are.
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
    },
  },
  ...directions,
);
