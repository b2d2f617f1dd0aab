import * as z from 'zod'
import { limits } from '../../../basics/limits.js'
import type { RowsQuery, Select } from '../../../models/data/rows-file.js'
import type { SelectService } from '../../contract/select.js'
import type { Nondeterminism } from '../../../models/data/warnings.js'
import { allRows } from '../../contract/answer.js'

/**
 * The rows that a training learns from. They may take longer than the answer to a client: `trainingReadTimeoutMs`.
 *
 * @example const { columns, chunks } = await askRows(analytics, 'mindsdb')({ sql: 'SELECT * FROM homes', db: 'files', upTo: 40 }, signal)
 */
export const askRows =
  (analytics: SelectService, defaultProject: string): Select =>
  async (query, signal) => {
    const request = { ...query, defaultProject, isNative: true, purpose: 'training', timeoutMs: limits.trainingReadTimeoutMs } as const
    const { columns, rows } = await analytics.query(request, { signal, client: 'trainings' })
    return { columns, chunks: rows }
  }

const findingsSchema = z.array(z.tuple([z.string(), z.string().nullable()]).transform(([what, view]): Nondeterminism => ({ what, view })))

/**
 * What keeps a query, and the views that it reads, from giving the same rows again. It is planned, not run.
 *
 * @example await askNondeterminism(analytics, 'mindsdb')({ sql: 'SELECT * FROM homes LIMIT 5', db: 'files', upTo: 40 }, signal)
 */
export const askNondeterminism =
  (analytics: SelectService, defaultProject: string) =>
  async (query: RowsQuery, signal: AbortSignal): Promise<Nondeterminism[]> => {
    const { rows } = await analytics.query({ ...query, defaultProject, isNative: true, wanted: { kind: 'nondeterminism' } }, { signal })
    return findingsSchema.parse(await allRows(rows))
  }
