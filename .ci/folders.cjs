/**
 * The folders of the other trees in their order: each may import those above it, and none below it. `.` is the tree itself without
 * the folders in it. Folders of src are rooms (rooms.cjs).
 *
 * `events` stands three times. Its files are what `mindledger/events/<file>` exports, so that they stay where they are: values that
 * all events have, the kinds over them, and the catalogue over kinds and records. Files in brackets have a place of their own.
 */
module.exports = {
  events: ['.(common|limits)', 'stored', 'contract', '.', 'records', '.(catalogue|references)'],
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
    'files',
    'sql',
    'analytics',
    'agents',
    'chatbots',
    'console',
  ],
  bench: ['harness', 'bare', 'accuracy', 'largest', 'log', 'model', 'retrieval/questions', 'retrieval', '.'],
}
