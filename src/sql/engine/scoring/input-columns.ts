import { DuckDBDoubleVector, type DuckDBDataChunk, type DuckDBVector } from '@duckdb/node-api'
import { isProblem } from '../../../basics/errors.js'
import { always, doubles, validityOf } from '../../encode/vectors.js'
import type { InputVector } from './scoring-model.js'

/** A column of a chunk in the form for the engine. */
const inputVector = (vector: DuckDBVector, rows: number): InputVector => {
  if (vector instanceof DuckDBDoubleVector) {
    const values = new Float64Array(doubles(vector))
    const valid = validityOf(vector)
    // The engine reads NaN as a missing number. The memory of a NULL may hold any value.
    if (valid !== always) for (let row = 0; row < rows; row++) if (!valid(row)) values[row] = NaN
    return { values }
  }
  return { values: vector.toArray() }
}

/** The columns of a model's inputs. The parameter gives the place of the first one in the chunk. */
export const inputColumns = (chunk: DuckDBDataChunk, first: number, inputs: number): InputVector[] =>
  Array.from({ length: inputs }, (_, index) => inputVector(chunk.getColumnVector(first + index), chunk.rowCount))

/** The reason for the refusal of a value in a chunk. The row's number within the chunk would mean nothing to the caller. */
export const inChunk = (label: string, error: unknown): unknown =>
  isProblem(error) && error.code === 'wrong_arguments' ? new Error(`${label}: ${error.detail.replace(/^Row \d+, /, '')}`) : error
