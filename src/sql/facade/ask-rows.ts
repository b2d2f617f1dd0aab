import { limits } from '../../basics/limits.js'
import type { Select } from '../../models/data/rows-file.js'
import type { SelectService } from '../contract/select.js'

/**
 * The rows that a training learns from. They may take longer than the answer to a client: `trainingReadTimeoutMs`.
 *
 * @example const { columns, chunks } = await askRows(analytics, 'mindsdb')({ sql: 'SELECT * FROM homes', db: 'files', upTo: 40 }, signal)
 */
export const askRows =
  (analytics: SelectService, defaultProject: string): Select =>
  async (query, signal) => {
    const request = { ...query, defaultProject, timeoutMs: limits.trainingReadTimeoutMs }
    const { columns, rows } = await analytics.query(request, { signal, client: 'trainings' })
    return { columns, chunks: rows }
  }
