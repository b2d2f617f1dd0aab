import { labelsIn } from './inspect.js'
import type { ClassLabel } from '../../data/task.js'
import { field, fieldsIn, nameIn, numberField, textOf, type Field } from './wire.js'

/** A model whose class probabilities are a tensor of numbers, and the classes, if it named them. */
export type UnzippedModel = { bytes: Uint8Array; classes: readonly ClassLabel[] | undefined }

/** A ZipMap: its place in the graph, its input and output, and the classes that it names. */
type ZipMap = { place: Field; input: string; output: string; classes: readonly ClassLabel[] | undefined }

const graphNumber = 7
const [nodeNumber, outputNumber] = [1, 12]

const zipMapIn = (place: Field): ZipMap | undefined => {
  const found: ZipMap = { place, input: '', output: '', classes: undefined }
  let operator = ''
  for (const { number, bytes } of fieldsIn(place.bytes)) {
    if (number === 1) found.input = textOf(bytes)
    if (number === 2) found.output = textOf(bytes)
    if (number === 4) operator = textOf(bytes)
    if (number === 5) found.classes = labelsIn(bytes) ?? found.classes
  }
  return operator === 'ZipMap' ? found : undefined
}

/** Describes an output as a tensor of floats (element type 1) whose shape the runtime determines. */
const tensorOutput = (name: string): Buffer =>
  field(outputNumber, Buffer.concat([field(1, Buffer.from(name)), field(2, field(1, numberField(1, 1)))]))

/** The bytes of a message with some of its fields replaced. */
const rewritten = (message: Uint8Array, replaced: ReadonlyMap<number, Uint8Array>): Buffer =>
  Buffer.concat([...fieldsIn(message)].map(({ start, end }) => replaced.get(start) ?? message.subarray(start, end)))

/**
 * Removes a ZipMap, the operator with which converters of scikit-learn turn probabilities into a list of dictionaries. The runtime's
 * binding cannot read such lists; the input of the ZipMap is the needed tensor. Other models stay unchanged.
 *
 * @example unzipped(bytes).classes // ['high', 'low'], or undefined for a model without a ZipMap
 */
export const unzipped = (bytes: Uint8Array): UnzippedModel => {
  const graph = [...fieldsIn(bytes)].find(({ number }) => number === graphNumber)
  if (!graph) return { bytes, classes: undefined }
  const fields = [...fieldsIn(graph.bytes)]
  const outputs = fields.filter(({ number }) => number === outputNumber)
  const zipMaps = fields.flatMap((place) => (place.number === nodeNumber ? (zipMapIn(place) ?? []) : []))
  const replaced = new Map<number, Uint8Array>()
  let classes: UnzippedModel['classes']
  for (const zipMap of zipMaps) {
    const output = outputs.find((value) => nameIn(value.bytes) === zipMap.output)
    if (!output) continue
    const isThere = outputs.some((value) => nameIn(value.bytes) === zipMap.input)
    replaced.set(zipMap.place.start, new Uint8Array(0))
    replaced.set(output.start, isThere ? new Uint8Array(0) : tensorOutput(zipMap.input))
    classes ??= zipMap.classes
  }
  if (replaced.size === 0) return { bytes, classes }
  const without = field(graphNumber, rewritten(graph.bytes, replaced))
  return { bytes: rewritten(bytes, new Map([[graph.start, without]])), classes }
}
