import { isProblem, Problem, wrong } from '../../../basics/errors.js'
import type { ModelInput } from '../tabular/artefact.js'
import { nearest } from '../../../basics/nearest.js'
import { readColumns, typesOf } from './columns.js'
import type { Column, Output, Run } from './messages.js'
import type { Inputs } from './signature.js'

type RunModel = (run: Run) => Promise<readonly Output[]>

/** The result of a trial: the batch size to use from now on, and the outputs for `rows` rows. */
export type Trial = { batch: number; rows: number; outputs: readonly Output[]; warnings: string[] }

/**
 * The batch size for models that accept any number of rows: most of the time of a call does not depend on it, and a single row takes little
 * more.
 */
const usualBatch = 16
const rotation = 5

/** Different numbers everywhere, so that a mix-up of columns or rows is noticed. */
const madeUp = ({ type }: ModelInput, isFloat: boolean, example: unknown, row: number): unknown => {
  if (type === 'text') return example ?? ''
  if (type === 'boolean') return example ?? row % 2 === 1
  if (!isFloat) return example ?? row % 4
  return Number(example ?? 0) + ((row * 7) % 16) / 3
}

const checkExample = (columns: readonly ModelInput[], example: Readonly<Record<string, unknown>>): void => {
  const names = columns.map(({ name }) => name)
  const unknown = Object.keys(example).find((name) => !names.includes(name))
  if (unknown !== undefined)
    throw wrong(`example has a column "${unknown}", the model has none`, `Did you mean "${nearest(unknown, names)}"?`)
}

/** @throws Problem that names the column. It does not show the value of the example, because that may be a secret. */
const rowsOf = ({ tensors, columns }: Inputs, example: Readonly<Record<string, unknown>>, rows: number): Column[] => {
  const types = typesOf(tensors)
  return columns.flatMap((input, index) => {
    const type = types[index] ?? 'float32'
    const isFloat = type === 'float32' || type === 'float64'
    try {
      return readColumns([input], [type], rows, () => (row) => madeUp(input, isFloat, example[input.name], row))
    } catch (error) {
      if (!isProblem(error)) throw error
      throw wrong(`example has a value of "${input.name}" that the model does not take: it is not usable as ${type}`)
    }
  })
}

/** The numbers or texts of all outputs for each of `rows` rows. */
const byRow = (outputs: readonly Output[], rows: number): string[] =>
  Array.from({ length: rows }, (_, row) =>
    outputs
      .map(({ data }) => {
        const width = data.length / rows
        return Array.from(data.slice(row * width, (row + 1) * width), String).join(',')
      })
      .join(';'),
  )

/** The refusal of a model whose results change between calls: such results could be neither checked nor repeated. */
const changing = (): Problem =>
  new Problem('bad_file', 'ONNX model refused', 'The model gives other numbers for the same rows each time', {
    hint: 'Export it without operators that draw random numbers.',
  })

/**
 * Another order of the rows: the even places have the rotated rows, the odd places row 0. So rows get other places and other neighbours.
 */
const moved = (columns: readonly Column[], rows: number): { columns: Column[]; from: number[] } => {
  const from = Array.from({ length: rows }, (_, place) => (place % 2 === 0 ? (place + rotation) % rows : 0))
  const pick = (column: Column): Column =>
    Array.isArray(column) ? from.map((row) => column[row] ?? '') : Float64Array.from(from, (row) => column[row] ?? 0)
  return { columns: columns.map(pick), from }
}

const whole = (outputs: readonly Output[], rows: number): boolean =>
  outputs.every(({ data }) => data.length > 0 && data.length % rows === 0)

const notRun = (problem: Problem, columns: readonly ModelInput[]): Problem => {
  if (problem.code !== 'query_failed') return problem
  const first = columns[0]?.name ?? 'x'
  const hint = `Rows were made up to try it. Give one that it knows: USING example = {'${first}': …}, with a value of each column that is text or a whole number.`
  return new Problem('bad_file', 'ONNX model refused', problem.detail, { hint })
}

/**
 * Tries a model on made-up rows (similar to an example, if there is one). A row's result must not depend on its position or on the other
 * rows; a model where it does is given one row at a time.
 *
 * @throws Problem bad_file when the model cannot run, query_limit when it takes too long or too much memory
 */
export const tryModel = async (
  run: RunModel,
  inputs: Inputs,
  outputs: readonly string[],
  example: Readonly<Record<string, unknown>> = {},
): Promise<Trial> => {
  const { tensors, columns } = inputs
  checkExample(columns, example)
  const rows = inputs.batch ?? usualBatch
  const made = rowsOf(inputs, example, rows)
  const tried = (values: readonly Column[], batch: number) => run({ tensors, columns: values, rows, batch, outputs })
  const twice = async (batch: number): Promise<readonly Output[]> => {
    const [one, other] = [await tried(made, batch), await tried(made, batch)]
    if (byRow(one, 1)[0] !== byRow(other, 1)[0]) throw changing()
    return one
  }
  const alone = async (warnings: string[]): Promise<Trial> => ({ batch: 1, rows, outputs: await twice(1), warnings })
  try {
    if (inputs.batch !== undefined) return { batch: rows, rows, outputs: await twice(rows), warnings: [] }
    const together = await twice(rows).catch((error: unknown) => {
      if (isProblem(error) && error.code === 'query_failed') return undefined
      throw error
    })
    if (!together || !whole(together, rows)) return await alone([])
    const other = moved(made, rows)
    const [before, after] = [byRow(together, rows), byRow(await tried(other.columns, rows), rows)]
    if (other.from.every((row, place) => before[row] === after[place])) return { batch: rows, rows, outputs: together, warnings: [] }
    return await alone(['The numbers of a row depend on the rows that come with it: the model is given one row at a time'])
  } catch (error) {
    throw isProblem(error) ? notRun(error, columns) : error
  }
}
