import { z } from 'zod'
import type { TrainingResult } from '../../../events/model.js'
import { Problem } from '../../errors.js'
import type { ModelStore } from '../model-store.js'
import { outputs } from '../predictor.js'
import { readTruth } from '../strict.js'
import type { ClassLabel, TargetType } from '../task.js'
import type { PredictedRow } from './predicted-rows.js'

const reportSchema = z.looseObject({
  target: z.looseObject({ name: z.string(), type: z.enum(['number', 'integer', 'boolean', 'text']) }),
  classes: z.array(z.union([z.string(), z.number(), z.boolean()])).default([]),
})

/** What the rows of a version are compared with: its target, and the classes that it knows. */
export class Truths {
  readonly #target: { name: string; type: TargetType }
  readonly #classes: readonly ClassLabel[]

  constructor(
    private readonly store: ModelStore,
    private readonly trained: TrainingResult,
  ) {
    const { target, classes } = reportSchema.parse(trained.report)
    this.#target = target
    this.#classes = classes
  }

  /** The truth in the target's own type. @throws Problem that says what was expected */
  read(truth: unknown, label: string): ClassLabel {
    return readTruth(this.#target.type, truth, `${label}, "truth" of "${this.#target.name}"`)
  }

  /** The probability that the model had given the true class; null for numbers, and where the model cannot be asked any more. */
  async probability({ input, output: { value, confidence } }: PredictedRow, truth: ClassLabel): Promise<number | null> {
    if (this.#classes.length === 0 || typeof confidence !== 'number') return null
    if (value === truth) return confidence
    const place = this.#classes.indexOf(truth)
    if (place < 0) return 0
    return this.#classes.length === 2 ? 1 - confidence : this.#again(input, place)
  }

  /** Of several classes only the likeliest was recorded: the same artefact says the same of the others again. */
  async #again(input: PredictedRow['input'], place: number): Promise<number | null> {
    try {
      const predictor = await this.store.predictor(this.trained.artefact)
      const features = new Float64Array(predictor.width)
      const out = new Float64Array(predictor.outputWidth)
      predictor.encodeRow(input, 0, features, 0)
      predictor.predictBatch(features, 1, out)
      return out[outputs.probabilities + place] ?? null
    } catch (error) {
      // An artefact that is not there any more leaves the probability unknown, and the truth true.
      if (error instanceof Problem) return null
      throw error
    }
  }
}
