/**
 * Room: answers of a query instead of its rows: a file, a table or a plan. It imports only events, basics, dialect, sql/contract,
 * files/tables, sql/engine/duckdb-connection, sql/engine/ast and sql/engine/session.
 */

import { unreachable } from '../../../../events/common.js'
import type { ErasableReads } from '../../contract/answer.js'
import { preparedColumns } from '../duckdb-connection/duckdb-connection.js'
import type { Frame } from '../../contract/select.js'
import { explainPlan } from './explain-plan.js'
import type { PreparedQuery } from './prepared-query.js'
import { writeTable } from './table-file.js'
import type { SelectPurpose, TableBefore } from '../../contract/select-purpose.js'
import type { Session } from '../session/session.js'

type Answer = { columns: { name: string; type: string }[]; rows: readonly (readonly unknown[])[] }

const columnsAnswer = ({ prepared }: PreparedQuery): Answer => ({
  columns: [
    { name: 'name', type: 'VARCHAR' },
    { name: 'type', type: 'VARCHAR' },
  ],
  rows: preparedColumns(prepared).map(({ name, type }) => [name, type]),
})

const fileAnswer = async (
  { session, prepared, text, tree }: PreparedQuery,
  wanted: Extract<SelectPurpose, { kind: 'file' }>,
): Promise<Answer> => {
  const { connection, blobFile, filesNow } = session
  const made = await writeTable({ connection, prepared, text, tree, path: wanted.path, after: wanted.after, blobFile })
  return {
    columns: [
      { name: 'bytes', type: 'BIGINT' },
      { name: 'row_count', type: 'BIGINT' },
      { name: 'columns', type: 'JSON' },
      { name: 'base', type: 'VARCHAR' },
    ],
    rows: [[made.bytes, made.rowCount, made.columns, filesNow.get(wanted.replaces ?? '') ?? null]],
  }
}

/** The data in the rows of a query that may be erased later, also in the rows before them in a file. */
export const erasableIn = ({ erasable: { contents, records } }: Session, after?: TableBefore): ErasableReads => ({
  contents: after ? [...contents, after.content] : [...contents],
  records,
})

const answerOf = (wanted: SelectPurpose, ready: PreparedQuery): Answer | Promise<Answer> => {
  switch (wanted.kind) {
    case 'columns':
      return columnsAnswer(ready)
    case 'file':
      return fileAnswer(ready, wanted)
    case 'plan':
      return explainPlan(ready, wanted)
    default:
      return unreachable(wanted)
  }
}

/** Answers a request for something other than the rows of a query. The answer is a table like any other. */
export async function* answerTable(wanted: SelectPurpose, ready: PreparedQuery): AsyncGenerator<Frame> {
  const { columns, rows } = await answerOf(wanted, ready)
  // Only a file holds the rows of the query. EXPLAIN shows no rows to anybody, so their predictions are not recorded.
  const { session } = ready
  const { served, answers } = session
  const ofFile = wanted.kind === 'file' && { erasable: erasableIn(session, wanted.after), ...(served.length > 0 && { served }) }
  yield { columns, ...ofFile, ...(answers.mayHaveChanged && { changes: true as const }) }
  if (rows.length > 0) yield { rows: Buffer.from(rows.map((row) => JSON.stringify(row)).join(',')) }
  yield { end: { rows: rows.length, scored: wanted.kind === 'file' ? ready.scored() : [] } }
}
