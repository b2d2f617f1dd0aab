import tseslint from 'typescript-eslint'

/** A bundle stands elsewhere than the modules in it. */
const ownPlace = {
  selector: 'MetaProperty',
  message: 'Ask src/setup/package.ts: what is found from import.meta.url is not there in a bundle.',
}

export default tseslint.config(
  { ignores: ['dist/', 'data/'] },
  {
    files: ['**/*.{ts,tsx,cts}'],
    extends: [...tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true }],
      // The log's contract is asynchronous for every store, also where one answers at once.
      '@typescript-eslint/require-await': 'off',
    },
  },
  {
    // A script that runs before any ES module is a CommonJS module.
    files: ['**/*.cts'],
    rules: { '@typescript-eslint/no-require-imports': ['error', { allowAsImport: true }] },
  },
  {
    // Typed arrays are read inside their own bounds: the index is a loop counter.
    files: ['src/models/**/*.ts', 'test/**/*.ts', 'bench/**/*.ts'],
    rules: { '@typescript-eslint/no-non-null-assertion': 'off' },
  },
  {
    files: ['{src,events,projections}/**/*.ts'],
    // The first looks for its place itself, and a page has none on the disk.
    ignores: ['src/setup/package.ts', 'src/console/**'],
    rules: { 'no-restricted-syntax': ['error', ownPlace] },
  },
  {
    // run and its like take several statements at once: what holds anything of a user's is prepared, by src/sql/engine/ast/duckdb.ts.
    files: ['src/sql/**/*.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        ownPlace,
        {
          selector:
            'CallExpression[callee.object.name=/onnection$/][callee.property.name=/^(run|stream)/][arguments.length=1]:not([arguments.0.type="Literal"])',
          message: 'Prepare it: prepareChecked, readChecked or runOwn. DuckDB takes several statements here.',
        },
        {
          selector:
            'CallExpression[callee.object.property.name=/onnection$/][callee.property.name=/^(run|stream)/][arguments.length=1]:not([arguments.0.type="Literal"])',
          message: 'Prepare it: prepareChecked, readChecked or runOwn. DuckDB takes several statements here.',
        },
      ],
    },
  },
)
