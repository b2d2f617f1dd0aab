import * as z from 'zod'
import type { ConnectionRead } from '../../../../events/model.js'
import { limits } from '../../../basics/limits.js'
import type { RowsQuery, RowSource } from '../../../models/data/rows-file.js'
import type { SelectRequest, SelectService } from '../../contract/select.js'
import type { Nondeterminism } from '../../../models/data/warnings.js'
import { allRows } from '../../contract/answer.js'

/** Queries of trainings take turns of their own, and may take longer than the answer to a client. */
const client = 'trainings'
const ofTraining = { isNative: true, timeoutMs: limits.trainingReadTimeoutMs, purpose: 'training' } as const

type ConnectionsRead = (request: SelectRequest) => readonly ConnectionRead[]

/**
 * The rows that a training learns from. They may take longer than the answer to a client: `trainingReadTimeoutMs`. `connectionsRead` says
 * which connected databases a request has read.
 *
 * @example const { columns, chunks } = await askRows(analytics, 'mindsdb', () => [])({ sql: 'SELECT * FROM homes', db: 'files', upTo: 40 }, signal)
 */
export const askRows =
  (analytics: SelectService, defaultProject: string, connectionsRead: ConnectionsRead): RowSource =>
  async (query, signal) => {
    const request: SelectRequest = { ...query, ...ofTraining, defaultProject }
    const { columns, rows } = await analytics.query(request, { signal, client })
    // Tables of connected databases are read before the first row is there.
    return { columns, chunks: rows, connections: connectionsRead(request) }
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
    const wanted = { kind: 'nondeterminism' } as const
    const { rows } = await analytics.query({ ...query, ...ofTraining, defaultProject, wanted }, { signal, client })
    return findingsSchema.parse(await allRows(rows))
  }
