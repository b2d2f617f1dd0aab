import * as z from 'zod'
import type { TrainingResult } from '../../../events/model.js'
import { Problem } from '../../basics/errors.js'
import type { ModelStore } from './model-store.js'
import { importsFile } from '../../catalogue/onnx-import.js'
import { outputs } from '../engines/tabular/predictor.js'
import { isRemote, type AnyPredictor } from '../engines/contract/remote.js'
import { readTruth } from '../data/check-values.js'
import type { ClassLabel, TargetType } from '../data/task.js'
import type { PredictedRow } from './predicted-rows.js'

const reportSchema = z.looseObject({
  engine: z.looseObject({ name: z.string() }),
  target: z.looseObject({ name: z.string(), type: z.enum(['number', 'integer', 'boolean', 'text']) }),
  classes: z.array(z.union([z.string(), z.number(), z.boolean()])).default([]),
})

/** The features of one recorded row. */
const numbersOf = async (predictor: AnyPredictor, input: PredictedRow['input']): Promise<Float64Array> => {
  if (isRemote(predictor)) return predictor.predictRows([input])
  const features = new Float64Array(predictor.width)
  const out = new Float64Array(predictor.outputWidth)
  predictor.encodeRow(input, 0, features, 0)
  predictor.predictBatch(features, 1, out)
  return out
}

/** Problems of an imported model that may not occur at the next attempt. */
const passing: ReadonlySet<string> = new Set(['busy', 'query_limit'])

/** The tolerance for probabilities: sums of single-precision numbers may go beyond 0 and 1 by this much. */
const slack = 1e-6

/** A model's number as a probability, if it is one: imported models may have none, or return scores. */
const asProbability = (number: number | undefined): number | null =>
  number !== undefined && number >= -slack && number <= 1 + slack ? Math.min(Math.max(number, 0), 1) : null

/** Compares the rows of a version with their truths, by its target and its classes. */
export class Truths {
  readonly #target: { name: string; type: TargetType }
  readonly #classes: readonly ClassLabel[]
  /** Whether it is known that a row's class probabilities sum to 1. */
  readonly #sums: boolean

  constructor(
    private readonly store: ModelStore,
    private readonly trained: TrainingResult,
  ) {
    const { engine, target, classes } = reportSchema.parse(trained.report)
    this.#target = target
    this.#classes = classes
    this.#sums = !importsFile(engine.name)
  }

  /** Reads the truth in the target's own type. @throws Problem that says what was expected */
  read(truth: unknown, label: string): ClassLabel {
    return readTruth(this.#target.type, truth, `${label}, "truth" of "${this.#target.name}"`)
  }

  /** The probability that the model gave to the true class; null for numbers, and if the model is no longer available. */
  async probability({ input, output: { value, confidence } }: PredictedRow, truth: ClassLabel): Promise<number | null> {
    if (this.#classes.length === 0 || typeof confidence !== 'number') return null
    if (value === truth) return asProbability(confidence)
    const place = this.#classes.indexOf(truth)
    if (place < 0) return 0
    return this.#classes.length === 2 && this.#sums ? 1 - confidence : this.#again(input, place)
  }

  /**
   * With several classes, only the likeliest one was recorded. The same artefact computes the same probabilities of the other classes
   * again.
   */
  async #again(input: PredictedRow['input'], place: number): Promise<number | null> {
    try {
      const out = await numbersOf(await this.store.predictor(this.trained.artefact), input)
      return asProbability(out[outputs.probabilities + place])
    } catch (error) {
      // If the model is busy or was stopped, the caller can try again. If the artefact is gone, the probability stays unknown, but the
      // truth is valid.
      if (error instanceof Problem && !passing.has(error.code)) return null
      throw error
    }
  }
}
