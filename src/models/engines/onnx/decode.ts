import { Problem } from '../../../basics/errors.js'
import { decidedClass, outputs as places } from '../tabular/predictor.js'
import type { OnnxHeader } from './artefact.js'
import type { Output } from './messages.js'

const wrongShape = (name: string): Problem =>
  new Problem('query_failed', 'The model failed', `The imported model's output "${name}" has another shape than when it was imported`)

/** The numbers or texts of an output, `columns` for each of at least `rows` rows. */
const dataOf = (outputs: readonly Output[], name: string, rows: number, columns: number): Output['data'] => {
  const output = outputs.find((one) => one.name === name)
  if (!output || output.data.length < rows * columns) throw wrongShape(name)
  return output.data
}

const unknownLabel = (label: unknown, labels: readonly unknown[]): Problem =>
  new Problem(
    'query_failed',
    'The model failed',
    `The imported model answered the class ${JSON.stringify(label)}; its classes are ${labels.map((known) => JSON.stringify(known)).join(', ')}`,
    { hint: "Import it again with its classes: USING classes = ['a', 'b'], in the order of its probabilities." },
  )

/** A label as the header has it: the runtime returns integers as bigints. */
export const plainLabel = (label: unknown): string | number => (typeof label === 'string' ? label : Number(label))

/** The class with the largest number; NaN if one of them is not a number, so that the largest is unknown. */
const largest = (numbers: Float64Array): number => (numbers.some(Number.isNaN) ? NaN : decidedClass(numbers, 0, numbers.length, undefined))

const decodeClasses = ({ classes, labels, outputs }: OnnxHeader, ran: readonly Output[], rows: number, out: Float64Array): void => {
  const width = places.probabilities + classes.length
  const { value, probabilities, scores } = outputs
  const decisive = scores ?? probabilities
  const given = value !== null && labels !== null ? dataOf(ran, value, rows, 1) : undefined
  const shares = decisive === null ? undefined : dataOf(ran, decisive, rows, classes.length)
  const indexes = new Map(labels?.map((label, index) => [label, index]))
  for (let row = 0; row < rows; row++) {
    const at = row * width
    for (let index = 0; index < classes.length; index++)
      out[at + places.probabilities + index] = shares ? Number(shares[row * classes.length + index]) : NaN
    const own = out.subarray(at + places.probabilities, at + width)
    const index = given ? indexes.get(plainLabel(given[row])) : largest(own)
    if (index === undefined) throw unknownLabel(plainLabel(given?.[row]), labels ?? classes)
    if (scores !== undefined) own.fill(NaN)
    out[at + places.value] = index
    out[at + places.confidence] = own[index] ?? NaN
    out[at + places.min] = out[at + places.max] = NaN
  }
}

/**
 * Converts a model's outputs for `rows` rows to the numbers of a predictor, row by row. There are no bounds, and no confidence for a
 * regression: the file has neither. A class without a label is NaN if its probabilities are.
 *
 * @throws Problem query_failed when the outputs differ from those at the import
 */
export const decodeOutputs = (header: OnnxHeader, ran: readonly Output[], rows: number): Float64Array => {
  const width = places.probabilities + header.classes.length
  const out = new Float64Array(rows * width)
  if (header.kind !== 'regression') {
    decodeClasses(header, ran, rows, out)
    return out
  }
  const values = dataOf(ran, header.outputs.value ?? '', rows, 1)
  for (let row = 0; row < rows; row++) {
    out[row * width + places.value] = Number(values[row])
    out[row * width + places.confidence] = out[row * width + places.min] = out[row * width + places.max] = NaN
  }
  return out
}
