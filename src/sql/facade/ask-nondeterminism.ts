import { z } from 'zod'
import type { RowsQuery } from '../../models/data/rows-file.js'
import type { Nondeterminism } from '../../models/data/unrepeatable.js'
import type { SelectService } from '../contract/select.js'
import { allRows } from '../contract/answer.js'

const findingsSchema = z.array(z.tuple([z.string(), z.string().nullable()]).transform(([what, view]): Nondeterminism => ({ what, view })))

/**
 * What keeps a query, and the views that it reads, from giving the same rows again. It is planned, not run.
 *
 * @example await askNondeterminism(analytics, 'mindsdb')({ sql: 'SELECT * FROM homes LIMIT 5', db: 'files', upTo: 40 }, signal)
 */
export const askNondeterminism =
  (analytics: SelectService, defaultProject: string) =>
  async (query: RowsQuery, signal: AbortSignal): Promise<Nondeterminism[]> => {
    const { rows } = await analytics.query({ ...query, defaultProject, wanted: { kind: 'nondeterminism' } }, { signal })
    return findingsSchema.parse(await allRows(rows))
  }
