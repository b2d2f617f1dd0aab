import { Problem, wrong } from '../../../basics/errors.js'
import { limits } from '../../../basics/limits.js'
import type { OnnxOptions } from '../../../catalogue/onnx-options.js'
import { refuseLongClasses, type ClassLabel, type TargetType } from '../../data/task.js'
import type { OnnxHeader } from './artefact.js'
import { plainLabel } from './decode.js'
import type { Output } from './messages.js'

/** The kind of a model's predictions, and the outputs that hold them. */
export type OnnxTask = Pick<OnnxHeader, 'kind' | 'classes' | 'labels' | 'outputs'> & { type: TargetType; warnings: string[] }

/** The role of an output, by its type and shape: a label, a number, or several numbers per row. */
type Role = { name: string; output: Output; columns: number; kind: 'label' | 'number' | 'numbers' | 'other' }

const roleOf = (output: Output, rows: number): Role => {
  const columns = output.data.length / rows
  const isFloat = output.type === 'float32' || output.type === 'float64'
  const flat = output.dims.length <= 2 && Number.isInteger(columns)
  if (!flat || output.data.length === 0) return { name: output.name, output, columns, kind: 'other' }
  if (columns === 1) return { name: output.name, output, columns, kind: isFloat ? 'number' : 'label' }
  return { name: output.name, output, columns, kind: isFloat ? 'numbers' : 'other' }
}

const described = ({ name, columns, output }: Role) => `"${name}" (${columns === 1 ? 'one' : columns} ${output.type || 'unknown'} a row)`

const ambiguous = (roles: readonly Role[]): Problem =>
  wrong(
    `It is not clear which output of the model is the prediction: ${roles.map(described).join(', ')}`,
    `Name it: USING output = '${roles[0]?.name ?? 'variable'}'.`,
  )

const unnamed = (count: number | undefined): Problem =>
  wrong(
    `The model does not name its ${count === undefined ? '' : `${count} `}classes`,
    "Name them in the order of its probabilities: USING classes = ['a', 'b']. In scikit-learn that is the model's classes_. A model that predicts several numbers at once is imported in parts, one for each.",
  )

/**
 * Refuses unknown labels beside scores: the predicted class may have the largest score, or the smallest one if the scores are distances.
 */
const otherLabels = ({ name, output }: Role, classes: readonly ClassLabel[]): Problem =>
  wrong(
    `"${name}" answers ${[...new Set(valuesIn(output))].slice(0, 5).join(', ')}, which is not among the classes ${classes.join(', ')}, and the model gives scores, not probabilities`,
    'Name the classes as the model answers them.',
  )

const typeOf = (classes: readonly ClassLabel[]): TargetType => {
  if (classes.every((label) => typeof label === 'boolean')) return 'boolean'
  if (classes.every((label) => typeof label === 'number')) return classes.every(Number.isInteger) ? 'integer' : 'number'
  return 'text'
}

const isShare = (value: unknown): boolean => Number(value) >= -1e-6 && Number(value) <= 1 + 1e-6

/** The known facts about a model's classes before its outputs are read: the classes in the model, and those in the options. */
type KnownClasses = { own: readonly ClassLabel[] | undefined; given: readonly ClassLabel[] | undefined }

/** The values of an output, as numbers or texts. */
const valuesIn = ({ data }: Output): (string | number)[] => Array.from({ length: data.length }, (_, row) => plainLabel(data[row]))

/** The labels that the model returns, if they are known to be its classes. */
const labelsOf = (label: Role | undefined, { own, given }: KnownClasses, count: number): OnnxHeader['labels'] => {
  if (!label) return null
  const seen = new Set(valuesIn(label.output))
  const fits = (labels: readonly ClassLabel[] | undefined): labels is (string | number)[] =>
    labels?.length === count && [...seen].every((one) => labels.includes(one))
  if (fits(own)) return own
  return fits(given) ? given : null
}

const classification = (label: Role | undefined, shares: Role | undefined, known: KnownClasses): OnnxTask => {
  const { own, given } = known
  const count = shares?.columns ?? (given ?? own)?.length
  if (given && count !== given.length) throw wrong(`classes names ${given.length} classes, the model gives ${count} probabilities a row`)
  const labels = count === undefined ? null : labelsOf(label, known, count)
  // If the model returns other labels than its classes, only the option `classes` can name the classes.
  const classes = given ?? (label ? labels : own)
  if (!classes || classes.length !== count || (!shares && !labels)) throw unnamed(count)
  if (new Set(classes.map(String)).size !== classes.length) throw wrong('Two classes of the model have the same name')
  if (classes.length > limits.trainingMaxClasses)
    throw new Problem(
      'query_limit',
      'Too many classes',
      `The model has ${classes.length} classes, at most ${limits.trainingMaxClasses} can be predicted`,
    )
  refuseLongClasses((label ?? shares)?.name ?? 'the model', classes)
  const isProbability = shares !== undefined && valuesIn(shares.output).every(isShare)
  if (label && !labels && !isProbability) throw otherLabels(label, classes)
  const type = typeOf(classes)
  const [probabilities, scores] = isProbability ? [shares.name, undefined] : [null, labels ? undefined : shares?.name]
  return {
    kind: classes.length === 2 ? 'binary' : 'multiclass',
    type,
    classes: type === 'text' ? classes.map(String) : classes,
    labels,
    outputs: { value: labels ? (label?.name ?? null) : null, probabilities, ...(scores !== undefined && { scores }) },
    warnings: shares && !isProbability ? [`"${shares.name}" gives scores, not probabilities: there is no confidence`] : [],
  }
}

const regression = ({ name, output }: Role): OnnxTask => ({
  kind: 'regression',
  type: output.type.startsWith('float') ? 'number' : 'integer',
  classes: [],
  labels: null,
  outputs: { value: name, probabilities: null },
  warnings: [],
})

const single = (role: Role, known: KnownClasses): OnnxTask => {
  switch (role.kind) {
    case 'number':
      return regression(role)
    case 'numbers':
      return classification(undefined, role, known)
    case 'label':
      return role.output.type === 'string' || known.own || known.given ? classification(role, undefined, known) : regression(role)
    case 'other':
      throw new Problem(
        'bad_file',
        'ONNX model refused',
        `The output ${described(role)} of the model is neither a number nor the probabilities of classes`,
      )
    default:
      return role.kind satisfies never
  }
}

/**
 * Determines what a model predicts from its outputs for `rows` rows: one number per row is a regression; a label, or several numbers per
 * row, are classes.
 *
 * @throws Problem wrong_arguments when an option is missing or does not fit, bad_file for outputs that are neither
 */
export const taskOf = (
  outputs: readonly Output[],
  rows: number,
  own: readonly ClassLabel[] | undefined,
  options: OnnxOptions,
): OnnxTask => {
  const roles = outputs.map((output) => roleOf(output, rows))
  const known = { own, given: options.classes }
  const of = (kind: Role['kind']) => roles.filter((role) => role.kind === kind)
  const [labels, shares] = [of('label'), of('numbers')]
  const chosen = options.output === undefined ? undefined : roles.find(({ name }) => name === options.output)
  if (options.output !== undefined && !chosen)
    throw wrong(`The model has no output "${options.output}"; it has ${roles.map(described).join(', ')}`)
  const pair = labels.length === 1 && shares.length === 1 && (!chosen || chosen.kind === 'label' || chosen.kind === 'numbers')
  if (pair && (chosen || roles.length === 2)) return classification(labels[0], shares[0], known)
  if (chosen) return single(chosen, known)
  const [only, another] = roles
  if (!only || another) throw ambiguous(roles)
  return single(only, known)
}
