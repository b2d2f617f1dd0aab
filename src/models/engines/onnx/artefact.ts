import { ByteReader, ByteWriter } from '../../numerics/bytes.js'
import type { ModelInput } from '../tables/artefact.js'
import type { ClassLabel, Task } from '../../data/task.js'
import type { InputTensor } from './messages.js'

/** How the artefacts of imported models begin. */
export const onnxMagic = 'MLONNX'
const version = 1

/** What was found out about a model when it was imported, and is not asked again. */
export type OnnxHeader = {
  engineVersion: string
  kind: Task['kind']
  target: Task['target']
  /** The classes as they are answered, in the order of the probabilities. */
  classes: readonly ClassLabel[]
  /** What the model's own label of each class is; `null` where the class is the one of the largest probability. */
  labels: readonly (string | number)[] | null
  tensors: readonly InputTensor[]
  /** The columns of the tensors, one behind the other. */
  inputs: readonly ModelInput[]
  /**
   * Names of the outputs with the value (or the label) and with the probabilities; of the scores of classes, where these alone
   * say which one it is.
   */
  outputs: { value: string | null; probabilities: string | null; scores?: string }
  /** How many rows the model is given at a time. */
  batch: number
}

/**
 * An imported model as bytes: magic `MLONNX`, version (u16), the header as JSON (length u32, UTF-8), then the ONNX file to the
 * end. Little endian. The same file and options give the same bytes.
 */
export const encodeOnnx = (header: OnnxHeader, model: Uint8Array): Uint8Array => {
  const writer = new ByteWriter()
  writer.raw(new TextEncoder().encode(onnxMagic))
  writer.u16(version)
  writer.text(JSON.stringify(header))
  return Buffer.concat([writer.finish(), model])
}

/** The header that `encodeOnnx` wrote, and how many bytes come before the model. @throws Problem internal for other bytes */
export const decodeOnnx = (artefact: Uint8Array): { header: OnnxHeader; offset: number } => {
  const reader = new ByteReader(artefact, 'model artefact')
  reader.expect(onnxMagic, version)
  const text = reader.text()
  // The header is read by the version that wrote it, and the artefact's hash is checked before it comes here.
  const header = JSON.parse(text) as OnnxHeader
  return { header, offset: onnxMagic.length + 2 + 4 + Buffer.byteLength(text) }
}
