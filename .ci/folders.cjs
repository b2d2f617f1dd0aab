/**
 * The folders of the other trees in their order: each may import those above it, and none below it. `.` is the tree itself without
 * the folders in it. Folders of src are rooms (rooms.cjs).
 */
module.exports = {
  events: ['.', 'stored', 'records', 'catalogue'],
  projections: ['contract', 'payloads', 'records', '.'],
  'test/support': [
    '.',
    'random',
    'onnx',
    'llm',
    'observe',
    'models',
    'connections',
    'log',
    'jobs',
    'files',
    'sql',
    'sql-process',
    'agents',
    'chatbots',
    'console',
  ],
  bench: ['harness', 'bare', 'accuracy', 'largest', 'log', 'model', 'retrieval/questions', 'retrieval', '.'],
}
