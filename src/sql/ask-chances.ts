import { z } from 'zod'
import type { RowsQuery } from '../models/rows-file.js'
import type { Chance } from '../models/unrepeatable.js'
import type { Analytics } from './answer-query.js'
import { allRows } from './answer.js'

const chancesSchema = z.array(z.tuple([z.string(), z.string().nullable()]).transform(([what, view]): Chance => ({ what, view })))

/**
 * What keeps a query, and the views that it reads, from giving the same rows again. It is planned, not run.
 *
 * @example await askChances(analytics, 'mindsdb')({ sql: 'SELECT * FROM homes LIMIT 5', db: 'files', upTo: 40 }, signal)
 */
export const askChances =
  (analytics: Analytics, defaultProject: string) =>
  async (query: RowsQuery, signal: AbortSignal): Promise<Chance[]> => {
    const { rows } = await analytics.query({ ...query, defaultProject, wanted: { kind: 'chances' } }, { signal })
    return chancesSchema.parse(await allRows(rows))
  }
