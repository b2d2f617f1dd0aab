import { prepareChecked, printSelect } from '../ast/checked-text.js'
import type { AstNode } from '../ast/json.js'
import { checkAborted } from '../duckdb-connection/duckdb-connection.js'
import { noColumn } from '../errors/no-column.js'
import type { Session } from '../session/session.js'
import { RunError, withText } from '../session/sources.js'

/**
 * Binds the names of a view's query without the statement around it. In a FROM, DuckDB would also look for them in the tables on the left,
 * and would take a text in double quotes for a column of such a table. Other errors come again when the whole statement is planned.
 *
 * @throws RunError about a name that another attempt reads as a text
 */
export const bindAlone = async (session: Session, tree: AstNode): Promise<void> => {
  const { connection, signal } = session
  const text = await printSelect(connection, tree)
  try {
    ;(await withText(text, tree, () => prepareChecked(connection, text))).destroySync()
  } catch (error) {
    checkAborted(signal)
    if (!(error instanceof RunError) || (await noColumn(error, session)) !== undefined) throw error
  }
}
