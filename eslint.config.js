import tseslint from 'typescript-eslint';

/**
 * The rooms that each room may import. Every room may also import errors and version at the root of
 * src, device/record.ts and output/sentences.ts. docs/architecture.md draws it.
 */
const MAY_IMPORT = {
  text: [],
  os: ['text'],
  device: ['os', 'text'],
  fleet: ['device', 'text'],
  change: ['fleet', 'device', 'text'],
  history: ['change', 'device', 'fleet', 'os', 'text'],
  settings: ['fleet', 'device', 'os', 'text'],
  credentials: ['device', 'os', 'text'],
  shell: ['change', 'credentials', 'device', 'fleet', 'history', 'os', 'settings', 'text'],
  output: ['change', 'device', 'fleet', 'history', 'shell', 'text'],
  plain: ['os', 'output', 'shell', 'text'],
  tui: ['change', 'fleet', 'history', 'os', 'output', 'plain', 'shell', 'text'],
  simulator: [],
};

/** The same for the rooms inside a room. All of them may import the files beside them. */
const ROOMS = {
  shell: {
    grammar: [],
    access: ['grammar'],
    devices: ['access', 'grammar'],
    writing: ['access', 'devices', 'grammar'],
    past: ['grammar', 'records', 'writing'],
    completion: ['commands', 'grammar', 'records'],
    records: ['completion', 'devices', 'grammar', 'writing'],
    commands: ['access', 'completion', 'devices', 'grammar', 'help', 'past', 'records', 'writing'],
    help: ['commands', 'grammar', 'records', 'writing'],
  },
  tui: {
    terminal: [],
    editor: ['terminal'],
    keys: ['editor', 'form', 'screen', 'table', 'terminal', 'views'],
    prompt: ['editor', 'keys', 'screen', 'terminal'],
    form: ['editor', 'keys', 'prompt', 'screen', 'terminal'],
    table: ['editor', 'form', 'keys', 'screen', 'terminal', 'views'],
    views: ['editor', 'keys', 'screen', 'table', 'terminal'],
    screen: ['editor', 'keys', 'prompt', 'table', 'terminal', 'views'],
    components: ['form', 'keys', 'prompt', 'screen', 'table', 'terminal', 'views'],
  },
};

/** What these find is data: `output/sentences.ts` has the words. */
const WORDLESS = ['device', 'fleet', 'change', 'history'];

/** Three words in a text, or two between the values of a template. */
const sentence = [
  ':not(MemberExpression) > Literal[value=/[A-Za-z]{2,},? [a-z]{2,},? [a-z]{2,}/]',
  'TemplateElement[value.raw=/[A-Za-z]{2,},? [a-z]{2,}/]',
].map((selector) => ({
  selector,
  message: 'A sentence: return a note, and add it to output/sentences.',
}));

/** Only these may use React, Ink and the terminal. */
const DRAWING = ['plain', 'output', 'tui'];

const forbidden = (rooms, allowed, prefix, where) =>
  rooms
    .filter((room) => !allowed.includes(room))
    .map((room) => ({
      regex: `^${prefix}${room}/(?!(?:record|sentences)\\.ts$)`,
      message: `${where} must not import ${room} (docs/architecture.md).`,
    }));

const folders = Object.keys(MAY_IMPORT);

const boundaries = folders.flatMap((folder) => {
  const patterns = [
    ...forbidden(
      folders.filter((one) => one !== folder),
      MAY_IMPORT[folder],
      '(\\.\\./)+',
      `src/${folder}`,
    ),
    // A separate product: of devsh it shares only the type of a record.
    ...(folder === 'simulator'
      ? [
          {
            regex: '^(\\.\\./)+(errors|version)\\.ts$|^(?!\\.|node:)',
            message: 'src/simulator shares no code with devsh, and is made of Node alone.',
          },
        ]
      : []),
    {
      regex: '^(\\.\\./)+(main|cli|answer-completion)\\.ts$',
      message: `src/${folder} must not import what puts devsh together.`,
    },
  ];
  const isHeadless = !DRAWING.includes(folder);
  const rules = (more) => ({
    'no-restricted-imports': [
      'error',
      {
        paths: isHeadless
          ? ['react', 'ink'].map((name) => ({ name, message: `src/${folder} draws nothing.` }))
          : [],
        patterns: [...patterns, ...more],
      },
    ],
    ...(isHeadless && {
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'stdout', message: 'Only main and tui own the terminal.' },
        { object: 'process', property: 'exit', message: 'Only main ends the process.' },
      ],
    }),
  });
  const rooms = ROOMS[folder] ?? {};
  return [
    { files: [`src/${folder}/**`], rules: rules([]) },
    ...Object.entries(rooms).map(([room, allowed]) => ({
      files: [`src/${folder}/${room}/**`],
      rules: rules(
        forbidden(
          Object.keys(rooms).filter((one) => one !== room),
          allowed,
          '\\.\\./',
          `src/${folder}/${room}`,
        ),
      ),
    })),
  ];
});

export default tseslint.config(
  { ignores: ['dist', 'coverage'] },
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      // Numbers need no formatting in messages.
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      // A callback that is taken as void may be one expression: `(text) => log(text)`.
      '@typescript-eslint/no-confusing-void-expression': [
        'error',
        { ignoreVoidReturningFunctions: true },
      ],
      // It overflows the stack on `Value`, which contains itself and a class (typescript-eslint 8.73).
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      // There are no enums: the compiler refuses them (erasableSyntaxOnly). It takes a tenth of the time.
      '@typescript-eslint/no-unsafe-enum-assignment': 'off',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
    },
  },
  ...boundaries,
  {
    files: ['src/output/sentences.ts', 'src/output/sentences/**'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              regex: '^(\\.\\./)+(?!\\.\\.|text/)',
              message: 'Every room imports this: it may only import text.',
            },
          ],
        },
      ],
    },
  },
  {
    files: WORDLESS.map((room) => `src/${room}/**`),
    // Tables that declare what a file may hold, and one of words for causes.
    ignores: ['src/*/*-schema.ts', 'src/fleet/failure-cause.ts'],
    rules: { 'no-restricted-syntax': ['error', ...sentence] },
  },
);
