import { Problem, errorText } from '../../../basics/errors.js'

/** The tensor types that inputs may have. */
export const tensorTypes = [
  'float32',
  'float64',
  'int8',
  'uint8',
  'int16',
  'uint16',
  'int32',
  'uint32',
  'int64',
  'uint64',
  'bool',
  'string',
] as const
export type TensorType = (typeof tensorTypes)[number]

export type TensorData =
  | Float32Array
  | Float64Array
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array
  | string[]

/** The runtime's description of an input or output. A dimension without a fixed size is a text; only tensors have a type and a shape. */
export type ValueMetadata = { name: string; isTensor: boolean; type?: string; shape?: readonly (number | string)[] }

export type Tensor = { type: string; dims: readonly number[]; data: TensorData }

/** A loaded model. Calls run synchronously on the calling thread. */
export type RuntimeSession = {
  inputMetadata: readonly ValueMetadata[]
  outputMetadata: readonly ValueMetadata[]
  run: (feeds: Record<string, Tensor>, fetches: readonly string[]) => Promise<Record<string, Tensor>>
}

/** The part of `onnxruntime-node` that is used. It is an optional peer dependency, so its own types may be absent. */
export type Runtime = {
  env: { logLevel?: string; versions: { node?: string } }
  InferenceSession: { create: (model: Uint8Array, options: Record<string, unknown>) => Promise<RuntimeSession> }
  Tensor: new (type: string, data: TensorData, dims: readonly number[]) => Tensor
}

const packageName = 'onnxruntime-node'

/** The refusal when the package is not installed. */
const runtimeMissing = (cause: string): Problem =>
  new Problem('runtime_missing', 'No ONNX runtime', `The package ${packageName}, which runs imported models, cannot be loaded here`, {
    hint: `Install it beside the service: ONNXRUNTIME_NODE_INSTALL=skip npm install ${packageName}, then start the service again.`,
    cause,
  })

/** @throws Problem runtime_missing when the package is not installed, or does not support this platform */
export const loadRuntime = async (name: string = packageName): Promise<Runtime> => {
  try {
    const loaded = (await import(name)) as { default?: Runtime } & Runtime
    const runtime = loaded.default ?? loaded
    // The runtime's log would go to standard error, which nobody reads; errors are thrown in any case.
    runtime.env.logLevel = 'fatal'
    return runtime
  } catch (error) {
    throw runtimeMissing(errorText(error))
  }
}
