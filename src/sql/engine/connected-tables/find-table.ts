import { foldName } from '../../../../events/common.js'
import { isProblem } from '../../../basics/errors.js'
import { nameThere, type TableColumn } from '../../../connections/contract/requests.js'
import type { ConnectedTable } from '../resolve/resolve.js'
import type { Session } from '../session/session.js'

/** A table of a connected database under the name that it has there, with its columns. */
export type FoundTable = { found: ConnectedTable; columns: readonly TableColumn[] }

const columnsIn = ({ answers, soon }: Session, { connection, table, schema }: ConnectedTable): Promise<readonly TableColumn[]> =>
  answers.columnsOf(connection.stream, table, schema, soon)

/**
 * The only table whose name differs from the written one at most by case; else the only one that is listed under the written name, such as
 * `shop.orders` in one pair of quotes.
 */
const listedAs = async ({ answers, soon }: Session, found: ConnectedTable): Promise<ConnectedTable | undefined> => {
  const { tables } = await answers.tablesOf(found.connection.stream, soon)
  const isNamed = (name: string): boolean => foldName(name) === foldName(found.table)
  const named = tables.filter(
    ({ name, schema, isUsual }) =>
      isNamed(name) && (found.schema === undefined ? isUsual : schema !== null && foldName(schema) === foldName(found.schema)),
  )
  const isWhole = named.length === 0 && found.schema === undefined
  const [listed, other] = isWhole ? tables.filter((each) => isNamed(nameThere(each))) : named
  if (!listed || other) return undefined
  const { name: table, schema, isUsual } = listed
  return { ...found, table, ...((found.schema !== undefined || !isUsual) && schema !== null && { schema }) }
}

/**
 * Finds a table and its columns by a written name. An exact match comes first; without one, the case of letters does not count, as for
 * every other name.
 *
 * @example (await findTable(session, { kind: 'connected', connection, schema: undefined, table: 'HOMES' })).found.table // 'homes'
 * @throws Problem not_found, and of the connection
 */
export const findTable = async (session: Session, found: ConnectedTable): Promise<FoundTable> => {
  try {
    return { found, columns: await columnsIn(session, found) }
  } catch (error) {
    const listed = isProblem(error) && error.code === 'not_found' ? await listedAs(session, found) : undefined
    if (!listed) throw error
    return { found: listed, columns: await columnsIn(session, listed) }
  }
}
