import { queryOf } from '../../../dialect/strings.js'
import type { Resources } from '../../../log/contract/log.js'
import type { InnerQuery } from '../../statements/statement.js'

/**
 * The query of a view `FROM connection (…)`: the text in the brackets is in the SQL of the connected database, so it is recorded with the
 * words that send it there as it is. Undefined for a query of any other database.
 *
 * @example await nativeViewQuery({ database: 'shop_db', query: 'SELECT 1' }, log.resources) // 'SELECT * FROM shop_db (SELECT 1)'
 */
export const nativeViewQuery = async ({ database, query }: InnerQuery, resources: Pick<Resources, 'one'>): Promise<string | undefined> => {
  const connection = database === null ? undefined : await resources.one('database', database)
  return connection && queryOf(connection.state.name, query)
}
