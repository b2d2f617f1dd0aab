import { Problem, wrong } from '../../../basics/errors.js'
import { limits } from '../../../basics/limits.js'
import { refuseAnswerNames } from '../contract/answer-columns.js'
import type { ModelInput } from '../tabular/artefact.js'
import type { ColumnType } from '../../data/values.js'
import type { InputTensor } from './messages.js'
import { tensorTypes, type TensorType, type ValueMetadata } from './runtime.js'

/** A model's inputs as tensors and as columns; `batch` is its fixed number of rows, undefined if it takes any number. */
export type Inputs = { tensors: InputTensor[]; columns: ModelInput[]; batch: number | undefined }

const unfit = (detail: string, hint = 'Rows of a table are tensors of one or two dimensions: rows, and the columns of each.'): Problem =>
  new Problem('bad_file', 'ONNX model refused', detail, { hint })

const shapeOf = ({ name, shape = [] }: ValueMetadata) =>
  `"${name}" [${shape.map((size) => (typeof size === 'number' ? size : size || '?')).join(', ')}]`

const columnTypeOf = (type: TensorType): ColumnType => {
  if (type === 'string') return 'text'
  if (type === 'bool') return 'boolean'
  return type === 'float32' || type === 'float64' ? 'number' : 'integer'
}

const isTensorType = (type: string | undefined): type is TensorType => tensorTypes.some((known) => known === type)

/** The number of columns that a tensor declares; `undefined` if the number is open. */
const columnsIn = ({ shape = [] }: ValueMetadata): number | undefined => {
  if (shape.length < 2) return 1
  return typeof shape[1] === 'number' ? shape[1] : undefined
}

const tensorOf = (input: ValueMetadata, open: number): InputTensor => {
  const { name, isTensor, type, shape = [] } = input
  if (!isTensor || !isTensorType(type))
    throw unfit(`The model's input "${name}" is ${type ?? 'no tensor'}, which no column can be put into`)
  if (shape.length < 1 || shape.length > 2) throw unfit(`The model's input ${shapeOf(input)} is no table`)
  return { name, type, columns: columnsIn(input) ?? open, flat: shape.length === 1 }
}

/** The remaining columns for the single tensor with an open number of columns. */
const openColumns = (inputs: readonly ValueMetadata[], given: readonly string[] | undefined): number => {
  const open = inputs.filter((input) => columnsIn(input) === undefined)
  const [first] = open
  if (!first) return 0
  if (!given || open.length > 1)
    throw unfit(
      `The model does not say how many columns its input ${shapeOf(first)} has`,
      "Name them: USING columns = ['sqft', 'age']. Only one input may leave it open.",
    )
  return given.length - inputs.reduce((sum, input) => sum + (columnsIn(input) ?? 0), 0)
}

const namesOf = (tensors: readonly InputTensor[]): string[] =>
  tensors.flatMap(({ name, columns }) => (columns === 1 ? [name] : Array.from({ length: columns }, (_, index) => `${name}_${index}`)))

const checkNames = (names: readonly string[], target: string): void => {
  const folded = names.map((name) => name.toLowerCase())
  const twice = names.find((_, index) => folded.indexOf(folded[index] ?? '') !== index)
  if (twice !== undefined)
    throw wrong(`Two columns of the model are called "${twice}"`, "Give each a name of its own: USING columns = ['a', 'b'].")
  if (folded.includes(target.toLowerCase()))
    throw wrong(`"${target}" is a column of the model and what it predicts`, 'PREDICT names the answer; choose a name that is no column.')
  refuseAnswerNames(names, target)
}

/** The fixed number of rows of the inputs, if there is one. */
const fixedBatch = (inputs: readonly ValueMetadata[]): number | undefined => {
  const fixed = [...new Set(inputs.map(({ shape = [] }) => shape[0]).filter((size) => typeof size === 'number'))]
  if (fixed.length > 1) throw unfit(`The model's inputs take different numbers of rows at a time (${fixed.join(', ')})`)
  const [batch] = fixed
  if (batch !== undefined && (batch < 1 || batch > limits.onnxBatchMaxRows))
    throw unfit(
      `The model takes ${batch} rows at a time; from 1 to ${limits.onnxBatchMaxRows} can be given`,
      'Export it with a free number of rows.',
    )
  return batch
}

/**
 * Maps columns to a model's inputs: a tensor with several columns takes them from `columns`, in order, or names them after itself with a
 * number; a tensor with one column gives it its name.
 *
 * @throws Problem bad_file for inputs that a table cannot fill, wrong_arguments for names that do not fit
 * @example inputsOf([{ name: 'X', isTensor: true, type: 'float32', shape: ['', 2] }], undefined, 'price').columns // X_0 and X_1
 */
export const inputsOf = (inputs: readonly ValueMetadata[], given: readonly string[] | undefined, target: string): Inputs => {
  if (inputs.length === 0) throw unfit('The model has no inputs')
  const open = openColumns(inputs, given)
  const tensors = inputs.map((input) => tensorOf(input, open))
  const count = tensors.reduce((sum, { columns }) => sum + columns, 0)
  if (count > limits.trainingMaxColumns) throw unfit(`The model has ${count} columns, at most ${limits.trainingMaxColumns} are taken`)
  if (tensors.some(({ columns }) => columns < 1) || (given && given.length !== count))
    throw wrong(
      `columns names ${given?.length ?? 0} columns, the model has ${open === 0 ? count : 'more'}: ${inputs.map(shapeOf).join(', ')}`,
      'Name each, in the order in which the model takes them.',
    )
  const names = given ?? namesOf(tensors)
  checkNames(names, target)
  const types = tensors.flatMap(({ type, columns }) => Array.from({ length: columns }, () => columnTypeOf(type)))
  const columns = names.map((name, index) => ({ name, type: types[index] ?? 'number', used: true }))
  return { tensors, columns, batch: fixedBatch(inputs) }
}
