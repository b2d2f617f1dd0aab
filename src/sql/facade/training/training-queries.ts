import type { ConnectionRead } from '../../../../events/model.js'
import { limits } from '../../../basics/limits.js'
import type { RowSource } from '../../../models/data/rows-file.js'
import type { SelectRequest, SelectService } from '../../contract/select.js'

/** Queries of trainings have their own turns, and may take longer than the answer to a client. */
const client = 'trainings'
const ofTraining = { isNative: true, timeoutMs: limits.trainingReadTimeoutMs, purpose: 'training' } as const

type ConnectionsRead = (request: SelectRequest) => readonly ConnectionRead[]

/**
 * The rows for a training. They may take longer than the answer to a client: `trainingReadTimeoutMs`. `connectionsRead` returns the
 * connected databases that a request has read.
 *
 * @example const { columns, chunks } = await askRows(sqlProcess, 'mindsdb', () => [])({ sql: 'SELECT * FROM homes', db: 'files', upTo: 40 }, signal)
 */
export const askRows =
  (sqlProcess: SelectService, defaultProject: string, connectionsRead: ConnectionsRead): RowSource =>
  async (query, signal) => {
    const request: SelectRequest = { ...query, ...ofTraining, defaultProject }
    const { columns, nondeterminism = [], erasable, rows } = await sqlProcess.query(request, { signal, client })
    // Tables of connected databases are read before the first row arrives.
    return { columns, chunks: rows, nondeterminism, connections: connectionsRead(request), ...(erasable && { erasable }) }
  }
