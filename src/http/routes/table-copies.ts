import { randomUUID } from 'node:crypto'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Problem } from '../../basics/errors.js'
import type { Log } from '../../log/contract/log.js'
import { stream } from '../protocol/reply.js'
import { route, type Route } from '../protocol/route.js'

/** Copies the tables into a new file, as of a position or later. @throws Error when they have not reached it */
type Copier = { copy: (into: string, upTo: number) => Promise<number> }

const duckdbType = 'application/vnd.duckdb.file'

/** The route that copies the current tables, so that a client can compare them with a replay of the log. */
export const tableCopyRoutes = (log: Pick<Log, 'head'>, tables: Copier, directory: string): Route[] => {
  // A copy takes as much disk as the tables do.
  let underWay: symbol | undefined
  const copyInto = async (file: string): Promise<number> => {
    const { position } = await log.head()
    // Tables that have stopped are copied as they are; the comparison then shows the missing events.
    return tables.copy(file, position).catch(() => tables.copy(file, 0))
  }
  /** Opens a copy and unlinks its file, so that it disappears after reading even if that fails. */
  const openCopy = async () => {
    const file = join(directory, `${randomUUID()}.duckdb`)
    const position = await copyInto(file).catch((error: unknown) => {
      throw new Problem('analytics_unavailable', 'No copy', 'The tables cannot be copied at the moment.', {
        retryAfterSeconds: 5,
        cause: error instanceof Error ? error.message : String(error),
      })
    })
    const opened = await open(file)
    await rm(file)
    return { position, content: opened.createReadStream(), size: (await opened.stat()).size }
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
          const { position, content, size } = await openCopy()
          // A client that has read all of it may ask for another copy at once.
          content.once('end', end)
          const close = () => {
            content.destroy()
            end()
          }
          const headers = { 'Content-Length': String(size), 'Mindledger-Position': String(position) }
          return stream(duckdbType, { pieces: content, stallMs: null, close }, { headers })
        } catch (error) {
          end()
          throw error
        }
      },
    }),
  ]
}
