/** The architecture's import directions (docs/architecture.md); `npm run check:imports` holds them. */
const pure = '^lib/(treepath|compaction/(plan|prompt|judge|digest|estimator)|settings)';

export default {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'lib-knows-no-outside',
      comment: 'The product does not know where it runs.',
      severity: 'error',
      from: { path: '^lib/' },
      to: { path: '^(functions|local|cdk|test|bench|web)/' },
    },
    {
      name: 'functions-know-lib-only',
      severity: 'error',
      from: { path: '^functions/' },
      to: { path: '^(local|cdk|test|bench|web)/' },
    },
    {
      name: 'pure-logic-knows-no-aws',
      comment: 'What decides can be tested without an engine.',
      severity: 'error',
      from: { path: pure },
      to: {
        path: '(^lib/(store|http|events|queue|env)|node_modules/(@aws-sdk|@aws-lambda-powertools|@anthropic-ai|hono))',
      },
    },
    {
      name: 'store-through-its-interfaces',
      comment:
        'The domain owns the interfaces in lib/ports.ts; only the functions put the store behind them.',
      severity: 'error',
      from: { path: '^lib/(?!store/)' },
      to: { path: '^lib/store/' },
    },
    {
      name: 'engine-knows-no-transport',
      severity: 'error',
      from: { path: '^lib/(compaction|summarizers|settings|treepath)/' },
      to: { path: '^lib/(http|events|queue|env)' },
    },
    {
      name: 'environment-read-by-functions',
      severity: 'error',
      from: { path: '^lib/' },
      to: { path: '^lib/env\\.ts$' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
      extensions: ['.ts', '.mjs', '.js'],
    },
  },
};
