import { Problem } from '../../basics/errors.js'
import { effectOf } from '../statements/grammar.js'
import type { Statement } from '../statements/statement.js'

/** Refuses a statement that writes, where only those that read are taken. EXPLAIN of one that writes only reads. */
export const refuseWrite = (statement: Statement): void => {
  if (effectOf(statement) !== 'writes' || statement.kind === 'explain_command') return
  throw new Problem('refused_statement', 'Only statements that read', 'this statement writes, and here only statements that read are taken')
}
