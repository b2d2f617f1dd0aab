import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import type { Server } from './server.js'

const readySchema = z.looseObject({ sql: z.looseObject({ state: z.string(), reason: z.string().optional() }) })
const pollMs = 100

/**
 * Waits until the SQL process has started and the tables are built, and shows the progress. This takes a while after a long log was copied
 * or restored. Returns at once if the tables cannot be built: a statement then says why.
 *
 * @example await untilTablesBuilt(server, out.progress); await server.post('/api/sql/query', { query: 'SELECT 1' })
 * @throws ConfigError when the server does not answer
 */
export const untilTablesBuilt = async (server: Pick<Server, 'get'>, progress: (text: string) => void): Promise<void> => {
  for (;;) {
    const { sql } = readySchema.safeParse((await server.get('/api/ready')).body).data ?? {}
    if (sql?.state !== 'building') return
    progress(sql.reason ?? 'SQL is starting')
    await sleep(pollMs)
  }
}
