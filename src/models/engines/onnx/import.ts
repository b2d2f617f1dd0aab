import { createHash } from 'node:crypto'
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { Problem } from '../../../basics/errors.js'
import { limits } from '../../../basics/limits.js'
import type { OnProgress } from '../tabular/fit.js'
import type { TrainReport } from '../tabular/train.js'
import { onnxVersion } from '../../../catalogue/onnx-import.js'
import { encodeOnnx, type OnnxHeader } from './artefact.js'
import { inspectOnnx, type OnnxFacts } from './inspect.js'
import type { Output } from './messages.js'
import { onnxName, type OnnxOptions } from '../../../catalogue/onnx-options.js'
import { OnnxProcess, type OnnxLimits } from './process.js'
import { inputsOf } from './signature.js'
import { taskOf } from './task.js'
import { tryModel, type Trial } from './trial.js'
import { unzipped } from './zipmap.js'

/** An uploaded file to import as a model, and a directory for temporary files. `bounds` overrides limits of the trial. */
export type ImportRequest = { file: string; work: string; target: string; options: OnnxOptions; bounds?: Partial<OnnxLimits> }

/** The report of an imported model. No training took place, so it has no metrics, plan or intervals. */
export type ImportReport = Pick<TrainReport, 'task' | 'target' | 'classes' | 'rows' | 'inputs' | 'excluded' | 'metrics' | 'importances'> & {
  engine: TrainReport['engine']
  warnings: readonly { kind: 'onnx'; detail: string }[]
  plan: null
  interval: null
  onnx: {
    sha256: string
    bytes: number
    producer: string
    ir_version: number
    opsets: Record<string, number>
    operators: number
    inputs: readonly { name: string; type: string; columns: number }[]
    outputs: readonly { name: string; type: string; dims: readonly number[] }[]
    batch: number
    /** The version of the runtime that the trial used. */
    runtime: string
  }
}

const readModel = (file: string): Buffer => {
  const { size } = statSync(file)
  if (size > limits.onnxMaxBytes)
    throw new Problem('too_large', 'Too large', `The ONNX file has ${size} bytes, at most ${limits.onnxMaxBytes} are imported`, {
      hint: 'Export a smaller model.',
    })
  return readFileSync(file)
}

const roleOf = (type: OnnxHeader['inputs'][number]['type']) => (type === 'text' ? 'category' : 'number')

const shown = ({ name, type, dims }: Output) => ({ name, type, dims })

type ModelInspection = { header: OnnxHeader; facts: OnnxFacts; bytes: Buffer; trial: Trial; warnings: readonly string[]; runtime: string }

const reportOf = ({ header, facts, bytes, trial, warnings, runtime }: ModelInspection): ImportReport => ({
  engine: { name: onnxName, version: onnxVersion },
  task: header.kind,
  target: header.target,
  classes: header.classes,
  rows: 0,
  inputs: header.inputs.map(({ name, type }) => ({ name, type, role: roleOf(type) })),
  excluded: [],
  warnings: warnings.map((detail) => ({ kind: 'onnx', detail })),
  plan: null,
  metrics: {},
  importances: [],
  interval: null,
  onnx: {
    sha256: createHash('sha256').update(bytes).digest('hex'),
    bytes: bytes.length,
    producer: facts.producer,
    ir_version: facts.irVersion,
    opsets: facts.opsets,
    operators: facts.nodes,
    inputs: header.tensors.map(({ name, type, columns }) => ({ name, type, columns })),
    outputs: trial.outputs.map(shown),
    batch: header.batch,
    runtime,
  },
})

const outputsOf = (signature: readonly { name: string; isTensor: boolean }[]): string[] => {
  if (signature.length === 0) throw new Problem('bad_file', 'ONNX model refused', 'The model has no outputs')
  const other = signature.find(({ isTensor }) => !isTensor)
  if (other)
    throw new Problem('bad_file', 'ONNX model refused', `The output "${other.name}" of the model is no tensor`, {
      hint: "With skl2onnx: to_onnx(model, X, options={id(model): {'zipmap': False}}).",
    })
  return signature.map(({ name }) => name)
}

/**
 * Makes an artefact of an ONNX file. It first refuses forbidden contents, then loads the model in a separate process, tries it on a few
 * rows, and fixes the mapping of its inputs and outputs.
 *
 * @throws Problem bad_file, too_large, wrong_arguments, query_limit, runtime_missing
 * @example const { artefact, report } = await importOnnx({ file, work, target: 'price', options: { file: 'rent' } })
 */
export const importOnnx = async (
  { file, work, target, options, bounds }: ImportRequest,
  onProgress: OnProgress = () => undefined,
): Promise<{ artefact: Uint8Array; report: ImportReport }> => {
  onProgress({ phase: 'prepare', done: 0, total: 3 })
  const bytes = readModel(file)
  const facts = inspectOnnx(bytes)
  const model = unzipped(bytes)
  onProgress({ phase: 'prepare', done: 1, total: 3 })
  writeFileSync(work, model.bytes, { mode: 0o600 })
  const process = new OnnxProcess({ file: work, offset: 0 }, bounds)
  try {
    const signature = await process.signature()
    const outputs = outputsOf(signature.outputs)
    const inputs = inputsOf(signature.inputs, options.columns, target)
    onProgress({ phase: 'prepare', done: 2, total: 3 })
    const trial = await tryModel((run) => process.run(run), inputs, outputs, options.example)
    const { type, warnings, ...task } = taskOf(trial.outputs, trial.rows, model.classes ?? facts.classes, options)
    const header: OnnxHeader = {
      engineVersion: onnxVersion,
      ...task,
      target: { name: target, type },
      tensors: inputs.tensors,
      inputs: inputs.columns,
      batch: trial.batch,
    }
    onProgress({ phase: 'prepare', done: 3, total: 3 })
    return {
      artefact: encodeOnnx(header, model.bytes),
      report: reportOf({ header, facts, bytes, trial, warnings: [...trial.warnings, ...warnings], runtime: signature.runtime }),
    }
  } finally {
    process.end()
    rmSync(work, { force: true })
  }
}
