import pg from 'pg'
import { limits } from '../../../basics/limits.js'
import { sendsTooMuch } from '../contract/explain.js'

type Row = (string | null)[]

/** The most rows of a list that this service asks for. */
const rowsMax = limits.connectionColumnsMax + 1

/**
 * Runs statements of this service, and returns their rows as texts. If a server sends more rows than any of these lists has, the connection
 * ends: the driver would keep all of them.
 *
 * @example await run(client, 'SELECT relname FROM pg_catalog.pg_class WHERE oid = $1', ['16384']) // [['homes']]
 * @throws Problem query_limit for more rows; Error of the driver
 */
export const run = (client: pg.Client, text: string, values: readonly unknown[] = []): Promise<Row[]> =>
  new Promise((resolve, reject) => {
    const found: Row[] = []
    // Without values it may be several statements.
    const config: pg.QueryArrayConfig = { text, rowMode: 'array', ...(values.length > 0 && { values: [...values] }) }
    const query = new pg.Query<Row>(config)
    query.on('row', (row) => {
      if (found.length < rowsMax) found.push(row)
      else if (found.length === rowsMax) {
        reject(sendsTooMuch(`more than ${rowsMax} rows`))
        client.connection.stream.destroy()
      }
    })
    query.on('end', () => resolve(found))
    query.on('error', reject)
    client.query(query)
  })
