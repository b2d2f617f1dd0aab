/** Writes fields of protobuf: numbers, and bytes with their length. */
const varint = (value: number): number[] => (value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))])
const number = (field: number, value: number): Buffer => Buffer.from([...varint(field * 8), ...varint(value)])
const bytes = (field: number, ...parts: (Buffer | string)[]): Buffer => {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part)))
  return Buffer.concat([Buffer.from([...varint(field * 8 + 2), ...varint(body.length)]), body])
}

const [float32, int64] = [1, 7]

const valueInfo = (field: number, name: string, type: number, dims: (string | number)[]): Buffer => {
  const shape = dims.map((dim) => bytes(1, typeof dim === 'number' ? number(1, dim) : bytes(2, dim)))
  return bytes(field, bytes(1, name), bytes(2, bytes(1, number(1, type), bytes(2, ...shape))))
}

/** Words with the same meaning have the same direction; each direction is a dimension. */
const meanings = [
  ['dog', 'puppy', 'hound'],
  ['cat', 'kitten'],
  ['car', 'vehicle', 'automobile'],
  ['money', 'cash', 'refund'],
]
const vocabulary = ['[UNK]', ...meanings.flat()]
const dimensions = meanings.length

/** The tokenizer.json of the model below. */
export const tinyTokenizer = JSON.stringify({
  version: '1.0',
  truncation: { max_length: 4, strategy: 'LongestFirst', stride: 0, direction: 'Right' },
  padding: null,
  added_tokens: [],
  normalizer: { type: 'Lowercase' },
  pre_tokenizer: { type: 'Whitespace' },
  post_processor: null,
  decoder: null,
  model: {
    type: 'WordPiece',
    unk_token: '[UNK]',
    continuing_subword_prefix: '##',
    max_input_chars_per_word: 100,
    vocab: Object.fromEntries(vocabulary.map((word, i) => [word, i])),
  },
})

/** A sentence transformer for a few words, as an ONNX file: it looks up a vector for each token. */
export const tinyEmbeddingModel = (): Buffer => {
  const table = Float32Array.from(
    vocabulary.flatMap((word) => meanings.map((words) => (words.includes(word) ? 1 : word === '[UNK]' ? 0.01 : 0))),
  )
  const initializer = bytes(
    5,
    number(1, vocabulary.length),
    number(1, dimensions),
    number(2, float32),
    bytes(8, 'table'),
    bytes(9, Buffer.from(table.buffer)),
  )
  const node = bytes(1, bytes(1, 'table'), bytes(1, 'input_ids'), bytes(2, 'last_hidden_state'), bytes(4, 'Gather'))
  const graph = bytes(
    7,
    ...[node, bytes(2, 'tiny'), initializer],
    valueInfo(11, 'input_ids', int64, ['batch', 'tokens']),
    valueInfo(12, 'last_hidden_state', float32, ['batch', 'tokens', dimensions]),
  )
  return Buffer.concat([number(1, 8), graph, bytes(8, number(2, 13))])
}
