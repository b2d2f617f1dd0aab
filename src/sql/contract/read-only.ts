import { Problem } from '../../basics/errors.js'
import { effectOf } from '../statements/grammar.js'
import type { Statement } from '../statements/statement.js'

/** Refuses a writing statement if only reading statements are allowed. EXPLAIN of a writing statement only reads. */
export const refuseWrite = (statement: Statement): void => {
  if (effectOf(statement) !== 'writes' || statement.kind === 'explain_command') return
  throw new Problem('refused_statement', 'Only statements that read', 'this statement writes, and here only statements that read are taken')
}
