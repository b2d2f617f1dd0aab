import type { DuckDBPreparedStatement } from '@duckdb/node-api'
import type { CheckedText } from '../ast/checked-text.js'
import type { AstNode } from '../ast/json.js'
import type { ScoreCount } from '../../contract/select.js'
import type { Session } from '../session/session.js'

/** A query that has been rewritten and prepared. */
export type PreparedQuery = {
  session: Session
  prepared: DuckDBPreparedStatement
  text: CheckedText
  tree?: AstNode
  scored: () => ScoreCount[]
}
