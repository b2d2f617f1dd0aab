import { z } from 'zod'
import type { ModelVersion } from '../../../events/model.js'
import { versionOf } from '../../commands/model.js'
import { wrong } from '../../basics/errors.js'
import type { Found } from '../../log/contract/log.js'
import { nearest } from '../../basics/nearest.js'

/** The options of a request for predictions. */
export const predictParams = z.strictObject({
  version: z.int().positive().nullish().describe('The version that answers; the active one unless it is said here or in the path'),
  confidence: z.number().nullish().describe('The level of the intervals, from .001 to .999; the model’s own unless it is said'),
  explain: z.literal('contributions').nullish().describe('Adds to _explain what each input contributed'),
  partition_size: z.unknown().optional().describe('Taken for its clients; rows are scored in parts of a fitting size'),
})

const known = Object.keys(predictParams.shape)
export type PredictParams = { version?: number; confidence?: unknown; explain?: unknown }

/**
 * Reads the `params` of a request for predictions. The confidence level and the kind of explanation are checked where they are used.
 *
 * @throws Problem that names an unknown param and the most similar known one
 * @example readParams({ version: 2, confidence: 0.5 }) // { version: 2, confidence: 0.5 }
 */
export const readParams = (params: Readonly<Record<string, unknown>>): PredictParams => {
  const unknown = Object.keys(params).find((name) => !known.includes(name))
  if (unknown !== undefined)
    throw wrong(`params: there is no "${unknown}"`, `Did you mean "${nearest(unknown, known)}"? There are version, confidence and explain.`)
  const { version, confidence, explain } = params
  if (version === undefined || version === null) return { confidence, explain }
  if (typeof version !== 'number' || !Number.isSafeInteger(version) || version < 1)
    throw wrong(`params.version: ${JSON.stringify(version)} is not the number of a version`, 'Versions are 1, 2, 3 …')
  return { version, confidence, explain }
}

/** The version that answers. @throws Problem when there is none, or path and `params` name different ones */
export const versionAsked = (
  { model, version, named }: { model: Found<'model'>; version: ModelVersion; named: number | undefined },
  asked: number | undefined,
): ModelVersion => {
  if (asked === undefined || asked === named) return version
  if (named !== undefined)
    throw wrong(`params.version is ${asked}, and the path names version ${named}`, 'Name the version in one of the two places.')
  return versionOf(model.state, asked)
}
