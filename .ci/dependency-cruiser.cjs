const rooms = require('./rooms.cjs')
const folders = require('./folders.cjs')

/** The files of each folder of a tree, without those of the folders in it; `.` is the tree itself. */
const filesIn = (tree, places) => places.map((place) => (place === '.' ? `^${tree}/[^/]+$` : `^${tree}/${place}/[^/]+$`))

/** A folder imports only earlier folders, and every file is in one that has a place. So no folder of a tree is in a cycle. */
const inOrder = (tree, places, list) => {
  const files = filesIn(tree, places)
  const nameOf = (place) => (place === '.' ? tree : tree === 'src' ? place : `${tree}/${place}`)
  return [
    ...places.slice(0, -1).map((place, at) => ({
      name: `${nameOf(place)}-knows-nothing-of-later-places`,
      comment: `The order stands in .ci/${list}.`,
      severity: 'error',
      from: { path: files[at] },
      to: { path: files.slice(at + 1) },
    })),
    {
      name: `every-file-of-${tree}-has-a-place`,
      comment: `A new folder gets its place in .ci/${list}.`,
      severity: 'error',
      from: { path: `^${tree}/`, pathNot: files },
      to: {},
    },
  ]
}

/** Imports flow one way: src -> projections -> events, and in each tree from later folders to earlier ones. */
module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    ...inOrder('src', rooms, 'rooms.cjs'),
    ...Object.entries(folders).flatMap(([tree, places]) => inOrder(tree, places, 'folders.cjs')),
    {
      name: 'events-import-nothing-of-ours',
      severity: 'error',
      from: { path: '^events/' },
      to: { path: '^(projections|src|test|bench|docs)/' },
    },
    { name: 'projections-import-events-only', severity: 'error', from: { path: '^projections/' }, to: { path: '^(src|test|bench|docs)/' } },
    {
      name: 'console-knows-the-api-alone',
      comment: 'The console runs in a browser, and the service serves its files.',
      severity: 'error',
      from: { path: '^src/console/' },
      to: { path: '^(events|projections|test|bench|docs|src/(?!console/))' },
    },
    { name: 'nobody-imports-the-console', severity: 'error', from: { pathNot: '^src/console/' }, to: { path: '^src/console/' } },
    {
      name: 'verifier-stands-alone',
      comment: 'It shares no code with what it checks, and becomes one file.',
      severity: 'error',
      from: { path: '^src/audit/verifier/' },
      to: { pathNot: '^src/audit/verifier/', dependencyTypesNot: ['core'] },
    },
    {
      name: 'nobody-imports-the-verifier',
      severity: 'error',
      from: { pathNot: '^src/audit/verifier/' },
      to: { path: '^src/audit/verifier/' },
    },
    { name: 'prometheus-is-for-observe', severity: 'error', from: { pathNot: '^src/observe/' }, to: { path: 'prom-client' } },
    {
      name: 'support-serves-tests',
      severity: 'error',
      from: { path: '^test/support/' },
      to: { path: '^(test/(?!support/)|bench/|docs/)' },
    },
    { name: 'benches-import-no-tests', severity: 'error', from: { path: '^bench/' }, to: { path: '^(test/(?!support/)|docs/)' } },
    { name: 'docs-import-no-tests', severity: 'error', from: { path: '^docs/' }, to: { path: '^(test|bench)/' } },
    { name: 'src-stands-alone', severity: 'error', from: { path: '^src/' }, to: { path: '^(test|bench|docs)/' } },
    {
      name: 'no-orphan-dependencies',
      severity: 'error',
      from: { path: '^(events|projections|src)/' },
      to: { dependencyTypes: ['npm-no-pkg', 'unknown', 'undetermined'] },
    },
    // The build puts development dependencies into the bundled programs. The other modules of the package must work without them.
    {
      name: 'modules-of-the-package-need-no-bundle',
      severity: 'error',
      from: { path: '^(events|projections)/' },
      to: { dependencyTypes: ['npm-dev'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'require', 'node', 'default', 'types'] },
  },
}
