import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { Problem, errorText } from '../../basics/errors.js'
import type { Log } from '../../log/contract/log.js'
import { fileOnce } from '../protocol/file-once.js'
import { route, type Route } from '../protocol/route.js'

/** Copies the tables into a new file, at a position or later. @throws Error when the tables have not reached it */
type Copier = { copy: (into: string, upTo: number) => Promise<number> }

const duckdbType = 'application/vnd.duckdb.file'

/** The route that copies the current tables, so that a client can compare them with a replay of the log. */
export const tableCopyRoutes = (log: Pick<Log, 'head'>, tables: Copier, directory: string): Route[] => {
  // A copy needs as much disk space as the tables.
  let underWay: symbol | undefined
  const copyInto = async (file: string): Promise<number> => {
    const { position } = await log.head()
    // Tables that have stopped are copied as they are; the comparison then shows the missing events.
    return tables.copy(file, position).catch(() => tables.copy(file, 0))
  }
  /** A new copy, and its position. */
  const newCopy = async (): Promise<{ file: string; position: number }> => {
    const file = join(directory, `${randomUUID()}.duckdb`)
    const position = await copyInto(file).catch((error: unknown) => {
      throw new Problem('analytics_unavailable', 'No copy', 'The tables cannot be copied at the moment.', {
        retryAfterSeconds: 5,
        cause: errorText(error),
      })
    })
    return { file, position }
  }
  return [
    route({
      method: 'get',
      path: '/log/tables',
      summary: 'The tables behind SQL as one DuckDB file; "mindledger diff" compares it with a replay of the log',
      gives: [duckdbType],
      answers: { 200: null },
      async handle() {
        if (underWay) throw new Problem('busy', 'Busy', 'the tables are being copied for another request', { retryAfterSeconds: 5 })
        const own = Symbol('copy')
        const end = () => {
          if (underWay === own) underWay = undefined
        }
        underWay = own
        try {
          const { file, position } = await newCopy()
          const headers = { 'Mindledger-Position': String(position) }
          // A client that has read the whole copy may ask for another one at once.
          return await fileOnce(duckdbType, file, { headers, ended: end })
        } catch (error) {
          end()
          throw error
        }
      },
    }),
  ]
}
