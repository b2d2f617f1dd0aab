import { foldName } from '../../../../events/common.js'
import { wrong } from '../../../basics/errors.js'

/** What stands behind the target's name in the columns of an answer that tell of it. */
export const answerSuffixes = ['_original', '_confidence', '_explain', '_anomaly', '_min', '_max'] as const

/** Columns of an answer that clients of the public service know, always empty. */
export const emptyColumns = ['select_data_query', 'when_data'] as const

const otherColumns = [...emptyColumns, '__service_row_id'] as const

/**
 * Refuses a column to learn from that has the name of a column of the answers: of the two only one could be shown.
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
