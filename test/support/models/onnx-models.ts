import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { field, numberField } from '../../../src/models/engines/onnx/wire.js'

/** The path of a model in `test/support/onnx`, by its name. */
export const onnxPath = (name: string): string =>
  fileURLToPath(new URL(`../../../../test/support/onnx/models/${name}.onnx`, import.meta.url))

export const onnxBytes = (name: string): Buffer => readFileSync(onnxPath(name))

export type HomeRow = { sqft: number; age: number; district: string }
type Truth = { value: (number | string)[]; classes?: (number | string)[]; probabilities?: number[][] }

/** Rows, and scikit-learn's predictions for them by each model. */
export const onnxTruth = JSON.parse(readFileSync(onnxPath('x').replace('models/x.onnx', 'truth.json'), 'utf8')) as {
  rows: HomeRow[]
  truth: Record<string, Truth>
}

const text = (number: number, value: string): Buffer => field(number, Buffer.from(value))

/** A tensor of floats with two columns, in a field of its graph. */
const pair = (number: number, name: string): Buffer => {
  const shape = Buffer.concat([field(1, text(2, 'n')), field(1, numberField(1, 2))])
  return field(number, Buffer.concat([text(1, name), field(2, field(1, Buffer.concat([numberField(1, 1), field(2, shape)])))]))
}

/** A classifier that gives the probabilities of two classes and no label: the softmax of its two columns. */
export const softmaxModel = (): Buffer => {
  const node = field(1, Buffer.concat([text(1, 'X'), text(2, 'probabilities'), text(4, 'Softmax')]))
  const graph = Buffer.concat([node, text(2, 'g'), pair(11, 'X'), pair(12, 'probabilities')])
  return Buffer.concat([numberField(1, 8), field(7, graph), field(8, numberField(2, 13))])
}
