import type { Nondeterminism } from '../../sql/contract/select.js'
import { classSizes } from './folds.js'
import type { Matrix, MatrixColumn } from './matrix.js'
import { shareExplained } from './single-input.js'

export type Warning = {
  kind:
    | 'missing_target'
    | 'duplicate_rows'
    | 'suspicious_input'
    | 'rare_class'
    | 'sampled'
    | 'time_limit'
    | 'unrepeatable'
    // Only for series.
    | 'missing_time'
    | 'short_series'
    | 'long_series'
    | 'gaps'
    | 'spikes'
    | 'unmeasured_steps'
  detail: string
}

type TrainingData = {
  kind: string
  target: { name: string }
  classes: readonly unknown[]
  labels: Float64Array
  inputs: readonly MatrixColumn[]
  matrix: Matrix
}

const duplicateShare = 0.05
const suspiciousShare = 0.98

const percent = (share: number) => `${Math.round(share * 1000) / 10} %`

/** Two 32-bit hashes of a row in one exact number. A collision only moves a percentage in a warning. */
const rowHashes = ({ columns, rows }: Matrix): Float64Array => {
  const views = columns.map((column) => {
    const values = column.type === 'text' ? Float64Array.from(column.codes) : column.numbers
    return new Int32Array(values.buffer, values.byteOffset, values.length * 2)
  })
  return Float64Array.from({ length: rows }, (_, row) => {
    let one = 0x811c9dc5
    let other = 0x9747b28c
    for (const view of views) {
      one = Math.imul(one ^ view[row * 2]!, 0x01000193) ^ view[row * 2 + 1]!
      one = Math.imul(one ^ (one >>> 15), 0x85ebca6b)
      other = Math.imul(other ^ view[row * 2 + 1]!, 0xc2b2ae35) ^ view[row * 2]!
      other = Math.imul(other ^ (other >>> 13), 0x27d4eb2f)
    }
    return (one >>> 0) * 0x200000 + (other >>> 11)
  })
}

const duplicates = (matrix: Matrix): Warning[] => {
  const share = 1 - new Set(rowHashes(matrix)).size / matrix.rows
  if (share < duplicateShare) return []
  return [{ kind: 'duplicate_rows', detail: `${percent(share)} of the rows repeat another one, so the metrics are optimistic` }]
}

const suspicious = ({ inputs, labels, classes, target }: TrainingData): Warning[] =>
  inputs.flatMap((column) => {
    const share = shareExplained(column, labels, classes.length)
    if (share < suspiciousShare) return []
    const detail = `"${column.name}" alone explains ${percent(share)} of "${target.name}": make sure that it is known when a prediction is made`
    return [{ kind: 'suspicious_input' as const, detail }]
  })

const rareClasses = ({ classes, labels }: TrainingData): Warning[] => {
  const sizes = classSizes(labels, classes.length)
  return classes.flatMap((label, index) =>
    sizes[index]! < 5
      ? [{ kind: 'rare_class' as const, detail: `Only ${sizes[index]!} rows have the class ${JSON.stringify(label)}` }]
      : [],
  )
}

/** Warnings about the training data for the user of the model. They do not remove any rows. */
export const warningsOf = (learned: TrainingData, withoutTarget: number): Warning[] => [
  ...(withoutTarget > 0
    ? [{ kind: 'missing_target' as const, detail: `${withoutTarget} rows have no value of "${learned.target.name}" and were left out` }]
    : []),
  ...duplicates(learned.matrix),
  ...suspicious(learned),
  ...rareClasses(learned),
]

/** The warnings of a training whose query may return other rows in another run: only the kept rows can reproduce its model. */
export const unrepeatable = (nondeterminism: readonly Nondeterminism[]): Warning[] => {
  const details = nondeterminism.map(
    ({ what, view }) => `The query may give other rows when it is run again: ${what}${view === null ? '' : ` (in the view ${view})`}`,
  )
  return [...new Set(details)].map((detail) => ({ kind: 'unrepeatable', detail }))
}
