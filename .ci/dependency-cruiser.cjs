/** Imports flow one way: src -> projections -> events; nothing imports src but what runs it. */
module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'events-import-nothing-of-ours',
      severity: 'error',
      from: { path: '^events/' },
      to: { path: '^(projections|src|test|bench|docs)/' },
    },
    { name: 'projections-import-events-only', severity: 'error', from: { path: '^projections/' }, to: { path: '^(src|test|bench|docs)/' } },
    { name: 'prometheus-is-for-observe', severity: 'error', from: { pathNot: '^src/observe/' }, to: { path: 'prom-client' } },
    { name: 'src-stands-alone', severity: 'error', from: { path: '^src/' }, to: { path: '^(test|bench|docs)/' } },
    {
      name: 'no-orphan-dependencies',
      severity: 'error',
      from: { path: '^(events|projections|src)/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'unknown', 'undetermined'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'require', 'node', 'default', 'types'] },
  },
}
