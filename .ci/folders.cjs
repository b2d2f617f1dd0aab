/**
 * The folders of the other trees in their order: each may import those above it, and none below it. `.` is the tree itself without
 * the folders in it. Folders of src are rooms (rooms.cjs).
 *
 * `events` stands three times: for the values that all events share, for the kinds above them, and for the catalogue above kinds and
 * records. Its files cannot move, because `mindledger/events/<file>` exports them. Files in brackets have a place of their own.
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
    'sql-process',
    'agents',
    'chatbots',
    'console',
  ],
  bench: ['harness', 'bare', 'accuracy', 'largest', 'log', 'model', 'retrieval/questions', 'retrieval', '.'],
}
