import regexp from 'eslint-plugin-regexp';
import tseslint from 'typescript-eslint';

/** Its roles are given what they have of time, chance and ids, so that tests and the simulation can give them others. */
const CORE = [
  'kernel',
  'work',
  'dialogue',
  'background',
  'triggers',
  'views/notifications',
  'platform/projections',
  'platform/reactions',
  'platform/tickers',
  'platform/supervision',
];

const WALL = 'Take the `Clock` from src/kernel/clock.ts, or the time as an argument.';
const TIMER = 'Take `Timing` from src/kernel/timing.ts: `pause`, `after`, `every` or `deadline`.';
const ELAPSED = 'Take `Timing` from src/kernel/timing.ts: `elapsedMs`.';
const CHANCE = 'Take `Timing` from src/kernel/timing.ts: `random`.';
const IDS = 'Take `Ids` from src/kernel/ids.ts, or the id as an argument.';

const TIMERS = ['setTimeout', 'setInterval', 'setImmediate'];
const RANDOM = ['randomUUID', 'randomBytes', 'randomInt', 'getRandomValues', 'webcrypto'];

const MODULES = [
  ...['node:timers', 'timers', 'node:timers/promises', 'timers/promises'].map((name) => ({ name, message: TIMER })),
  ...['node:perf_hooks', 'perf_hooks'].map((name) => ({ name, message: ELAPSED })),
  ...['node:process', 'process'].map((name) => ({ name, importNames: ['hrtime'], message: ELAPSED })),
  ...['node:crypto', 'crypto'].map((name) => ({ name, importNames: RANDOM, message: IDS })),
];
const SYSTEM = { regex: '/system-(timing|ids)\\.js$', message: "Take `Timing` or `Ids` from src/kernel, not the machine's own." };
const NEW_ID = { regex: '/ids\\.js$', importNames: ['newId'], message: IDS };

const ENVIRONMENT = {
  selector: "MemberExpression[object.name='process'][property.name='env']",
  message: 'Only platform/config reads the environment; take what you need as an argument.',
};

export default tseslint.config(
  { ignores: ['dist', 'node_modules', 'coverage', '.data', '**/*.cjs', '**/*.mjs', '*.js', 'test/support/**/*.js'] },
  // Rules that need types are those of `.oxlintrc.json`: a native program reads the types, and checks them at the same time.
  ...tseslint.configs.recommended,
  {
    // Nest reads the types of what is decorated as values.
    languageOptions: { parserOptions: { emitDecoratorMetadata: true, experimentalDecorators: true } },
    rules: {
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'no-restricted-syntax': ['error', ENVIRONMENT],
    },
  },
  {
    // What comes from users is read by patterns whose time grows with the text, and not with its square.
    files: ['src/**/*.ts', 'projections/**/*.ts'],
    ignores: ['**/*.spec.ts'],
    plugins: { regexp },
    rules: { 'regexp/no-super-linear-backtracking': 'error', 'regexp/no-super-linear-move': 'error' },
  },
  {
    files: CORE.map((folder) => `src/${folder}/**/*.ts`),
    // Patterns are run by threads of their own, on the machine's time.
    ignores: ['**/*.spec.ts', 'src/triggers/monitors/patterns/**'],
    rules: {
      'no-restricted-globals': [
        'error',
        ...TIMERS.map((name) => ({ name, message: TIMER })),
        { name: 'performance', message: ELAPSED },
        { name: 'Temporal', message: WALL },
        { name: 'globalThis', message: 'Name what you use of it, so that it can be told whether the core may.' },
      ],
      'no-restricted-properties': [
        'error',
        { object: 'Date', property: 'now', message: WALL },
        { object: 'Math', property: 'random', message: CHANCE },
        { object: 'AbortSignal', property: 'timeout', message: TIMER },
        { object: 'process', property: 'hrtime', message: ELAPSED },
        ...RANDOM.map((property) => ({ object: 'crypto', property, message: IDS })),
      ],
      'no-restricted-syntax': [
        'error',
        ENVIRONMENT,
        { selector: "NewExpression[callee.name='Date'][arguments.length=0]", message: WALL },
        { selector: "CallExpression[callee.name='Date']", message: WALL },
      ],
      'no-restricted-imports': ['error', { paths: MODULES, patterns: [SYSTEM, NEW_ID] }],
    },
  },
  {
    // At the edge ids are made and handed in.
    files: CORE.map((folder) => `src/${folder}/**/*.http.ts`),
    rules: { 'no-restricted-imports': ['error', { paths: MODULES, patterns: [SYSTEM] }] },
  },
  {
    files: ['src/kernel/ids.ts'],
    rules: { 'no-restricted-properties': 'off' },
  },
  { files: ['src/platform/config/**', 'test/**'], rules: { 'no-restricted-syntax': 'off' } },
);
