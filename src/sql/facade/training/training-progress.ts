import * as z from 'zod'
import { Problem } from '../../../basics/errors.js'
import type { ProgressOf } from '../../../models/training/progress.js'

const training = z.object({ model: z.string(), version: z.number() })

/**
 * Adds the progress to the refusal of a model that is being trained, because the SQL process does not know the progress.
 *
 * @example withProgress(problem, trainings.progressOf).extras.hint // '… It is at phase folds, 120 of 600.'
 */
export const withProgress = (problem: Problem, progressOf: ProgressOf): Problem => {
  const { training: named, ...extras } = problem.extras
  const asked = training.safeParse(named)
  if (!asked.success) return problem
  const progress = progressOf(asked.data.model, asked.data.version)
  const { code, title, detail } = problem
  if (!progress) return new Problem(code, title, detail, extras)
  const hint = `${extras.hint ?? ''} It is at phase ${progress.phase}, ${progress.done} of ${progress.total}.`.trim()
  return new Problem(code, title, detail, { ...extras, hint, progress })
}
