import { foldName } from '../../../../events/common.js'
import { wrong } from '../../../basics/errors.js'

/** The suffixes of the answer columns about the target, after its name. */
export const answerSuffixes = ['_original', '_confidence', '_explain', '_anomaly', '_min', '_max'] as const

/** Answer columns that clients of MindsDB expect; always empty. */
export const emptyColumns = ['select_data_query', 'when_data'] as const

const otherColumns = [...emptyColumns, '__service_row_id'] as const

/**
 * Refuses an input column with the name of an answer column: only one of the two could be shown.
 *
 * @throws Problem that names the column
 * @example refuseAnswerNames(['size', 'rent_max'], 'rent') // "rent_max" is also a column of the answers
 */
export const refuseAnswerNames = (names: readonly string[], target: string): void => {
  const taken = new Set([...answerSuffixes.map((suffix) => target + suffix), ...otherColumns].map(foldName))
  const found = names.find((name) => taken.has(foldName(name)))
  if (found !== undefined)
    throw wrong(
      `"${found}" is also a column of the answers of a model that predicts "${target}"`,
      'Give it another name (AS, or USING columns for an imported model).',
    )
}
