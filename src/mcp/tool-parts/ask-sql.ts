import type { Execution } from '../../commands/ledger.js'
import { Problem } from '../../basics/errors.js'
import type { SqlAnswer } from '../../sql/contract/answer.js'
import type { SqlRequest } from '../../sql/contract/request.js'
import type { SqlEngine } from '../../sql/facade/execute.js'
import { firstRows, type FirstRows } from './rows.js'
import type { CallContext } from './tool.js'

/** A statement of a tool: the SQL, and its options. */
export type Statement = Pick<SqlRequest, 'query' | 'db' | 'asOf' | 'params'> & { readsOnly?: boolean; execution?: Execution }

/** An answer that is no refusal. Refusals are thrown. */
export type Answer = Exclude<SqlAnswer, { type: 'error' }>

/** Runs a statement for a client. @throws Problem of the statement */
export const askSql = async (sql: Pick<SqlEngine, 'execute'>, statement: Statement, asked: CallContext): Promise<Answer> => {
  const { origin, client, signal } = asked
  const answer = await sql.execute({ readsOnly: true, ...statement, format: 'json', origin, client, signal })
  if (answer.type === 'error') throw answer.problem
  return answer
}

/** The rows of a query of this service. @throws Problem of the query */
export const askRows = async (
  sql: Pick<SqlEngine, 'execute'>,
  statement: Statement,
  most: { rows: number; bytes: number },
  asked: CallContext,
): Promise<FirstRows> => {
  const answer = await askSql(sql, statement, asked)
  if (answer.type !== 'table') throw new Problem('internal', 'Internal error', 'a query was not answered with a table')
  return firstRows(answer.rows, most)
}
