import { Problem } from '../../../basics/errors.js'
import { limits } from '../../../basics/limits.js'
import type { ClassLabel } from '../../data/task.js'
import { broken, endless, fieldsIn, nameIn, textOf } from './wire.js'

/** The facts about a file that must be checked before the runtime loads it. */
export type OnnxFacts = {
  irVersion: number
  producer: string
  /** The versions of the operator sets that it uses, by domain; the empty one is ONNX's own. */
  opsets: Record<string, number>
  nodes: number
  /** The classes in its classifiers, if all have the same. */
  classes: readonly ClassLabel[] | undefined
}

/** Domains of operators that the runtime includes. */
const ownDomains = new Set(['', 'ai.onnx', 'ai.onnx.ml', 'com.microsoft'])

type Kind = 'model' | 'graph' | 'node' | 'attribute' | 'function' | 'sparse' | 'tensor' | 'opset'

/** The fields of each message that contain other messages, by their numbers in onnx.proto. */
const children: Readonly<Record<Kind, Readonly<Record<number, Kind>>>> = {
  model: { 7: 'graph', 8: 'opset', 25: 'function' },
  graph: { 1: 'node', 5: 'tensor', 15: 'sparse' },
  node: { 5: 'attribute' },
  attribute: { 5: 'tensor', 6: 'graph', 10: 'tensor', 11: 'graph', 22: 'sparse', 23: 'sparse' },
  function: { 7: 'node', 9: 'opset', 11: 'attribute' },
  sparse: { 1: 'tensor', 2: 'tensor' },
  tensor: {},
  opset: {},
}

/** The deepest nesting: an if in a loop in an if. No real model needs more. */
const deepest = 64

const refused = (detail: string, hint: string): Problem => new Problem('bad_file', 'ONNX model refused', detail, { hint })

const externalData = () =>
  refused(
    'The model keeps its weights in another file (external data); only whole models are imported',
    'Save it as one file: onnx.save(model, path, save_as_external_data=False), or to_onnx(…, external_data=False) in PyTorch.',
  )

const tooManyClasses = () =>
  new Problem(
    'query_limit',
    'Too many classes',
    `The model has more than ${limits.trainingMaxClasses} classes, the most that are predicted`,
  )

type Labels = readonly ClassLabel[]

/** The results of the walk through the file. */
type Walk = { facts: OnnxFacts; used: Set<string>; defined: Set<string>; labels: Labels[]; graphs: number }

/** A sequence of packed integers, of 64 bits at most. */
function* integersIn(bytes: Uint8Array): Generator<number> {
  let [value, weight] = [0n, 0n]
  for (const byte of bytes) {
    if (weight > 63n) throw endless()
    value |= BigInt(byte & 0x7f) << weight
    weight += 7n
    if (byte >= 0x80) continue
    yield Number(BigInt.asIntN(64, value))
    ;[value, weight] = [0n, 0n]
  }
}

const labelNames = /^classlabels_(strings|ints|int64s)$/

function* eachLabel(attribute: Uint8Array): Generator<ClassLabel> {
  for (const { number, bytes, start, end } of fieldsIn(attribute)) {
    if (number === 9) yield textOf(bytes)
    // The integers are either packed in one field, or each has its own field.
    else if (number === 8) yield* integersIn(bytes.length > 0 ? bytes : attribute.subarray(start + 1, end))
  }
}

/** The class labels in an attribute of a classifier, in the order of its probabilities. */
export const labelsIn = (attribute: Uint8Array): Labels | undefined => {
  // Other attributes, such as those of trees, may hold millions of numbers.
  if (!labelNames.test(nameIn(attribute))) return undefined
  const labels: ClassLabel[] = []
  for (const label of eachLabel(attribute)) if (labels.push(label) > limits.trainingMaxClasses) throw tooManyClasses()
  return labels.length > 0 ? labels : undefined
}

const note = (kind: Kind, { number, value, bytes }: { number: number; value: number; bytes: Uint8Array }, walk: Walk): void => {
  const { facts } = walk
  if (kind === 'model' && number === 1) facts.irVersion = value
  if (kind === 'model' && number === 2) facts.producer = textOf(bytes)
  if (kind === 'model' && number === 7) walk.graphs += 1
  if (kind === 'node' && number === 7) walk.used.add(textOf(bytes))
  if (kind === 'function' && number === 10) walk.defined.add(textOf(bytes))
  if (kind === 'tensor' && (number === 13 || (number === 14 && value !== 0))) throw externalData()
}

const noteOpset = (bytes: Uint8Array, { opsets }: OnnxFacts): void => {
  let [domain, version] = ['', 0]
  for (const field of fieldsIn(bytes)) {
    if (field.number === 1) domain = textOf(field.bytes)
    if (field.number === 2) version = field.value
  }
  opsets[domain] = Math.max(opsets[domain] ?? 0, version)
}

const visit = (kind: Kind, message: Uint8Array, walk: Walk, depth: number): void => {
  if (depth > deepest) throw refused(`The model's graphs are nested deeper than ${deepest} levels`, 'Export a simpler model.')
  if (kind === 'opset') noteOpset(message, walk.facts)
  if (kind === 'node' && ++walk.facts.nodes > limits.onnxMaxNodes)
    throw new Problem('too_large', 'Too large', `The model has more than ${limits.onnxMaxNodes} operators`)
  const labels = kind === 'attribute' ? labelsIn(message) : undefined
  if (labels) walk.labels.push(labels)
  for (const found of fieldsIn(message)) {
    note(kind, found, walk)
    const child = children[kind][found.number]
    if (child) visit(child, found.bytes, walk, depth + 1)
  }
}

const checkDomains = ({ used, defined }: Walk): void => {
  const custom = [...used].filter((domain) => !ownDomains.has(domain) && !defined.has(domain))
  if (custom.length > 0)
    throw refused(
      `The model uses operators of ${custom.map((domain) => `"${domain}"`).join(', ')}, which are not part of ONNX`,
      'Convert it without custom operators; they would be code of somebody else in this service.',
    )
}

/** A file in the runtime's own format, which is not protobuf. It would bypass these checks. */
const isOrtFormat = (bytes: Uint8Array): boolean => Buffer.from(bytes.subarray(4, 8)).toString('latin1') === 'ORTM'

/**
 * Reads an ONNX file as far as needed for refusals: broken files, weights in other files, operators that the runtime does not include, more
 * operators than the limit.
 *
 * @throws Problem bad_file, too_large
 * @example inspectOnnx(readFileSync('rent.onnx')).opsets // { '': 17, 'ai.onnx.ml': 3 }
 */
export const inspectOnnx = (bytes: Uint8Array): OnnxFacts => {
  if (isOrtFormat(bytes)) throw broken('it is in the ORT format; upload the .onnx file that it was made of')
  const facts: OnnxFacts = { irVersion: 0, producer: '', opsets: {}, nodes: 0, classes: undefined }
  const walk: Walk = { facts, used: new Set(), defined: new Set(), labels: [], graphs: 0 }
  visit('model', bytes, walk, 0)
  if (walk.graphs !== 1) throw broken(walk.graphs === 0 ? 'there is no graph in it' : 'there is more than one graph in it')
  if (facts.irVersion === 0) throw broken('it does not say which version of the format it has')
  checkDomains(walk)
  const [first, ...others] = walk.labels.map((labels) => JSON.stringify(labels))
  return { ...facts, classes: others.every((labels) => labels === first) ? walk.labels[0] : undefined }
}
