import { keepsRows, type TrainingResult } from '../../../events/model.js'
import { erased, Problem } from '../../basics/errors.js'
import { erasureOfBlob } from '../../log/read/find-erasure.js'
import type { BlobStore } from '../../files/blob-store.js'
import type { Log } from '../../log/contract/log.js'

/** Why the rows of a version's training are gone, as a code and as a text. */
export type RowsGone = {
  why: 'matrix_not_kept' | 'matrix_erased' | 'matrix_missing'
  detail: string
  erasure?: { position: number; reason: string | null }
  what: string
}

type RowSources = { blobs: Pick<BlobStore, 'has'>; log: Pick<Log, 'readStream'> }

/**
 * The hash of the matrix that a version learned from, or the reason why there is none; a version without a result was deleted.
 *
 * @example const { matrix, gone } = await keptRows({ blobs, log }, 1, version.result)
 */
export const keptRows = async (
  { blobs, log }: RowSources,
  version: number,
  result: Pick<TrainingResult, 'matrix' | 'matrix_kept'> | null | undefined,
): Promise<{ matrix: string; gone?: undefined } | { gone: RowsGone }> => {
  const what = `The training matrix of version ${version}`
  const missing = { why: 'matrix_missing' as const, what, detail: `${what} is no longer kept` }
  if (!result) return { gone: missing }
  if (!keepsRows(result))
    return { gone: { why: 'matrix_not_kept', what, detail: `${what} was not kept: it was trained with keep_training_data = false` } }
  if (await blobs.has(result.matrix)) return { matrix: result.matrix }
  const erasure = await erasureOfBlob(log, result.matrix)
  if (!erasure) return { gone: missing }
  return { gone: { why: 'matrix_erased', what, detail: erased(what, erasure, '').detail, erasure } }
}

/** The refusal to fine-tune from rows that are gone. */
export const goneProblem = ({ what, detail, erasure }: RowsGone): Problem => {
  const hint = 'RETRAIN the model on a query of all rows.'
  return erasure ? erased(what, erasure, hint) : new Problem('not_found', 'Rows not found', detail, { hint })
}
