import type { Column, InputTensor, Output, Run } from './messages.js'
import type { Runtime, RuntimeSession, Tensor, TensorData, TensorType } from './runtime.js'

type NumberType = Exclude<TensorType, 'string'>

const numbersOf: Readonly<Record<NumberType, (size: number) => Exclude<TensorData, string[]>>> = {
  float32: (size) => new Float32Array(size),
  float64: (size) => new Float64Array(size),
  int8: (size) => new Int8Array(size),
  uint8: (size) => new Uint8Array(size),
  int16: (size) => new Int16Array(size),
  uint16: (size) => new Uint16Array(size),
  int32: (size) => new Int32Array(size),
  uint32: (size) => new Uint32Array(size),
  int64: (size) => new BigInt64Array(size),
  uint64: (size) => new BigUint64Array(size),
  bool: (size) => new Uint8Array(size),
}

/** The content of a tensor for a batch of rows starting at `from`; the last row is repeated to fill the batch. */
const dataOf = ({ type, columns: width }: InputTensor, columns: readonly Column[], from: number, { rows, batch }: Run): TensorData => {
  const data: TensorData = type === 'string' ? new Array<string>(batch * width).fill('') : numbersOf[type](batch * width)
  for (let row = 0; row < batch; row++) {
    const source = Math.min(from + row, rows - 1)
    for (let column = 0; column < width; column++) {
      const value = columns[column]?.[source] ?? 0
      const at = row * width + column
      if (Array.isArray(data)) data[at] = String(value)
      else if (data instanceof BigInt64Array || data instanceof BigUint64Array) data[at] = BigInt(value)
      else data[at] = Number(value)
    }
  }
  return data
}

const feedsOf = ({ Tensor }: Runtime, run: Run, from: number): Record<string, Tensor> => {
  let first = 0
  const feeds = run.tensors.map((tensor) => {
    const columns = run.columns.slice(first, (first += tensor.columns))
    const dims = tensor.flat ? [run.batch] : [run.batch, tensor.columns]
    return [tensor.name, new Tensor(tensor.type, dataOf(tensor, columns, from, run), dims)] as const
  })
  return Object.fromEntries(feeds)
}

/** Concatenates numbers or texts of several batches into an array of the first one's kind. */
const joined = (parts: readonly TensorData[]): TensorData => {
  const [first] = parts
  if (!first || parts.length === 1) return first ?? []
  if (Array.isArray(first)) return parts.flatMap((part) => (Array.isArray(part) ? part : []))
  const size = parts.reduce((sum, part) => sum + part.length, 0)
  const Kind = first.constructor as new (size: number) => { set: (part: TensorData, at: number) => void } & TensorData
  const all = new Kind(size)
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}

/**
 * Runs a model on rows, batch by batch.
 *
 * @example await runBatches(runtime, session, { tensors, columns: [new Float64Array([80, 95])], rows: 2, batch: 16, outputs: ['variable'] })
 */
export const runBatches = async (runtime: Runtime, session: RuntimeSession, run: Run): Promise<Output[]> => {
  const parts = run.outputs.map((): Tensor[] => [])
  for (let from = 0; from < run.rows; from += run.batch) {
    const results = await session.run(feedsOf(runtime, run, from), run.outputs)
    run.outputs.forEach((name, index) => {
      const tensor = results[name]
      if (tensor) parts[index]?.push(tensor)
    })
  }
  return run.outputs.map((name, index) => {
    const [first] = parts[index] ?? []
    const data = joined((parts[index] ?? []).map((tensor) => tensor.data))
    return { name, type: first?.type ?? '', dims: first?.dims ?? [], data }
  })
}
