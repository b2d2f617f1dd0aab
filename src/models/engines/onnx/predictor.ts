import { sentTwice } from '../../data/values.js'
import type { RemotePredictor } from '../contract/remote.js'
import { Encoder, type ColumnVector } from '../tabular/encode.js'
import { outputs } from '../tabular/predictor.js'
import { decodeOnnx, type OnnxHeader } from './artefact.js'
import { readColumns, typesOf, valuesIn } from './columns.js'
import { decodeOutputs } from './decode.js'
import type { Column } from './messages.js'
import { OnnxProcess } from './process.js'
import { OnnxProcesses } from './processes.js'

/**
 * The number of rows per message to the process; the deadline is for this many rows. It is a multiple of every batch size that is not
 * fixed.
 */
const rowsPerCall = 256

/** All processes of imported models that this process has started. */
const processes = new OnnxProcesses()

const outputNames = ({ outputs: { value, probabilities, scores } }: OnnxHeader): string[] =>
  [value, probabilities, scores].filter((name) => typeof name === 'string')

/** A row under the model's own column names. */
const named = (row: Readonly<Record<string, unknown>>, rowIndex: number, encoder: Encoder): Map<string, unknown> => {
  const found = new Map<string, unknown>()
  for (const [sent, value] of Object.entries(row)) {
    const name = encoder.nameOf(sent, rowIndex)
    if (found.has(name)) throw sentTwice(rowIndex, name)
    found.set(name, value)
  }
  return found
}

/**
 * Makes an imported model ready to predict; its process starts with the first call. That process reads the artefact from its file itself.
 *
 * @example await loadOnnx(artefact, blobs.path(sha)).predictRows([{ sqft: 80, district: 'north' }])
 */
export const loadOnnx = (artefact: Uint8Array, file: string): RemotePredictor => {
  const { header, offset } = decodeOnnx(artefact)
  const { kind, target, classes, inputs, tensors, batch } = header
  const process = new OnnxProcess({ file, offset })
  const encoder = new Encoder(inputs, [], target.name)
  const types = typesOf(tensors)
  const width = outputs.probabilities + classes.length
  const predict = async (columns: readonly Column[], rows: number): Promise<Float64Array> => {
    const out = new Float64Array(rows * width)
    const step = Math.ceil(rowsPerCall / batch) * batch
    for (let from = 0; from < rows; from += step) {
      const count = Math.min(step, rows - from)
      const part = columns.map((column) => column.slice(from, from + count))
      processes.use(process)
      const ran = await process.run({ tensors, columns: part, rows: count, batch, outputs: outputNames(header) })
      out.set(decodeOutputs(header, ran, count), from * width)
    }
    return out
  }
  return {
    kind,
    inputs,
    target: kind === 'regression' ? target : { ...target, classes },
    outputWidth: width,
    partial: true,
    nameOf: (sent, rowIndex) => encoder.nameOf(sent, rowIndex),
    async predictRows(rows) {
      const given = rows.map((row, index) => named(row, index, encoder))
      const columns = readColumns(
        inputs,
        types,
        rows.length,
        ({ name }) =>
          (row) =>
            given[row]?.get(name),
      )
      return predict(columns, rows.length)
    },
    async predictColumns(vectors: readonly (ColumnVector | undefined)[], rows) {
      return predict(
        readColumns(inputs, types, rows, (_, index) => valuesIn(vectors[index])),
        rows,
      )
    },
  }
}
