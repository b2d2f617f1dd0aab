import { ByteReader, ByteWriter } from '../../numerics/bytes.js'
import type { ModelInput } from '../tabular/artefact.js'
import type { ClassLabel, Task } from '../../data/task.js'
import type { InputTensor } from './messages.js'

/** The magic of imported models' artefacts. */
export const onnxMagic = 'MLONNX'
const version = 1

/** The results of the import, so that they need not be computed again. */
export type OnnxHeader = {
  engineVersion: string
  kind: Task['kind']
  target: Task['target']
  /** The classes as answers show them, in the order of the probabilities. */
  classes: readonly ClassLabel[]
  /** The model's own label of each class; `null` if the predicted class is the one with the largest probability. */
  labels: readonly (string | number)[] | null
  tensors: readonly InputTensor[]
  /** The columns of all tensors, in order. */
  inputs: readonly ModelInput[]
  /**
   * The names of the outputs with the value (or the label) and with the probabilities; or with the scores of classes, if only these
   * determine the class.
   */
  outputs: { value: string | null; probabilities: string | null; scores?: string }
  /** The number of rows that the model gets at a time. */
  batch: number
}

/**
 * Encodes an imported model: magic `MLONNX`, version (u16), the header as JSON (length u32, UTF-8), then the ONNX file. Little endian. The
 * same file and options give the same bytes.
 */
export const encodeOnnx = (header: OnnxHeader, model: Uint8Array): Uint8Array => {
  const writer = new ByteWriter()
  writer.raw(new TextEncoder().encode(onnxMagic))
  writer.u16(version)
  writer.text(JSON.stringify(header))
  return Buffer.concat([writer.finish(), model])
}

/** Decodes the header that `encodeOnnx` wrote, and the offset of the model. @throws Problem internal for other bytes */
export const decodeOnnx = (artefact: Uint8Array): { header: OnnxHeader; offset: number } => {
  const reader = new ByteReader(artefact, 'model artefact')
  reader.expect(onnxMagic, version)
  const text = reader.text()
  // The header has the version that wrote it, and the artefact's hash was checked before.
  const header = JSON.parse(text) as OnnxHeader
  return { header, offset: onnxMagic.length + 2 + 4 + Buffer.byteLength(text) }
}
