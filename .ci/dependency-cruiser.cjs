const rooms = require('./rooms.cjs')

/** The files of a room, without those of the rooms in it. */
const filesOf = (room) => (room === '.' ? '^src/[^/]+$' : `^src/${room}/[^/]+$`)

const roomsInOrder = rooms.slice(0, -1).map((room, place) => ({
  name: `${room === '.' ? 'src' : room}-knows-nothing-of-later-rooms`,
  comment: 'The order of the rooms stands in .ci/rooms.cjs.',
  severity: 'error',
  from: { path: filesOf(room) },
  to: { path: rooms.slice(place + 1).map(filesOf) },
}))

/** Imports flow one way: src -> projections -> events, and in src from later rooms to earlier ones. */
module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    ...roomsInOrder,
    {
      name: 'every-file-has-a-room',
      comment: 'A new folder gets its place in .ci/rooms.cjs.',
      severity: 'error',
      from: { path: '^src/', pathNot: rooms.map(filesOf) },
      to: {},
    },
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
    { name: 'src-stands-alone', severity: 'error', from: { path: '^src/' }, to: { path: '^(test|bench|docs)/' } },
    {
      name: 'no-orphan-dependencies',
      severity: 'error',
      from: { path: '^(events|projections|src)/' },
      to: { dependencyTypes: ['npm-no-pkg', 'unknown', 'undetermined'] },
    },
    // The build puts a development dependency into the programs. What the package has besides them must do without.
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
