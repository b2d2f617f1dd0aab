import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

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
