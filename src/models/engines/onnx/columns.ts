import { wrong } from '../../../basics/errors.js'
import { readCell, readText, cellOf, unusable } from '../../data/values.js'
import type { ModelInput } from '../tabular/artefact.js'
import type { ColumnVector } from '../tabular/encode.js'
import type { Column, InputTensor } from './messages.js'
import type { TensorType } from './runtime.js'

/** The ranges of the integer types. Numbers beyond 2⁵³ would not be exact. */
const ranges: Readonly<Partial<Record<TensorType, readonly [least: number, most: number]>>> = {
  int8: [-0x80, 0x7f],
  uint8: [0, 0xff],
  int16: [-0x8000, 0x7fff],
  uint16: [0, 0xffff],
  int32: [-0x80000000, 0x7fffffff],
  uint32: [0, 0xffffffff],
  int64: [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  uint64: [0, Number.MAX_SAFE_INTEGER],
}

/** The type of each of a model's columns, in the order of its tensors. */
export const typesOf = (tensors: readonly InputTensor[]): TensorType[] =>
  tensors.flatMap(({ type, columns }) => Array.from({ length: columns }, () => type))

const missing = (row: number, { name, type }: ModelInput): Error =>
  wrong(
    `${cellOf(row, name)}: there is no value, and the imported model takes no missing ${type === 'text' ? 'text' : `${type} value`}`,
    `Send one; in SQL coalesce("${name}", …) puts one in the place of NULL.`,
  )

type ValueOf = (row: number) => unknown

const readTexts = (input: ModelInput, rows: number, valueOf: ValueOf): string[] =>
  Array.from({ length: rows }, (_, row) => {
    const text = readText(valueOf(row))
    if (text === undefined) throw unusable(cellOf(row, input.name), valueOf(row), input.type)
    if (text === null) throw missing(row, input)
    return text
  })

const readNumbers = (
  input: ModelInput & { type: Exclude<ModelInput['type'], 'text'> },
  type: TensorType,
  rows: number,
  valueOf: ValueOf,
) => {
  const range = ranges[type]
  const isFloat = type === 'float32' || type === 'float64'
  return Float64Array.from({ length: rows }, (_, row) => {
    const value = valueOf(row)
    const number = readCell(input.type, value)
    if (number === undefined) throw unusable(cellOf(row, input.name), value, input.type)
    if (Number.isNaN(number) && !isFloat) throw missing(row, input)
    if (range && (!Number.isInteger(number) || number < range[0] || number > range[1]))
      throw unusable(cellOf(row, input.name), value, input.type)
    return number
  })
}

const readColumn = (input: ModelInput, type: TensorType, rows: number, valueOf: ValueOf): Column =>
  input.type === 'text' ? readTexts(input, rows, valueOf) : readNumbers({ ...input, type: input.type }, type, rows, valueOf)

/**
 * Converts columns of plain values for a model. A missing number is NaN where the model takes floats, and a problem elsewhere.
 *
 * @throws Problem wrong_arguments that names the row and the column
 */
export const readColumns = (
  inputs: readonly ModelInput[],
  types: readonly TensorType[],
  rows: number,
  valuesOf: (input: ModelInput, index: number) => ValueOf,
): Column[] => inputs.map((input, index) => readColumn(input, types[index] ?? 'float32', rows, valuesOf(input, index)))

/** Reads the values of a vector; without a vector all values are missing. */
export const valuesIn = (vector: ColumnVector | undefined): ValueOf => {
  if (!vector) return () => null
  const { values, valid } = vector
  return valid ? (row) => (valid[row] ? values[row] : null) : (row) => values[row]
}
