import { DuckDBDataChunk, DOUBLE, StatementType, type DuckDBAppender, type DuckDBConnection } from '@duckdb/node-api'
import { checkAborted } from '../duckdb-connection/duckdb-connection.js'
import { parseSelect, printSelect, readChecked, runOwn } from '../ast/checked-text.js'
import type { AstNode } from '../ast/json.js'
import { aliased, star } from '../ast/nodes.js'
import { doubles } from '../../encode/vectors.js'
import type { Scope } from '../session/scope.js'
import type { Session } from '../session/session.js'
import { withText } from '../session/sources.js'
import { standalone } from '../session/describe.js'
import { isRemote } from '../../../models/engines/contract/remote.js'
import { ChunkScorer, hideUnknown } from '../scoring/functions.js'
import { RemoteScorer } from '../scoring/remote-scorer.js'
import { fieldsOf, type AnyModel, type BoundModel, type Extent } from '../scoring/scoring-model.js'

/** A model, and the expressions of its inputs over the staged table. */
export type StagedUse = { bound: BoundModel; parameters: AstNode[]; column: string; extent: Extent; isServed: boolean }

const batchRows = 16_384n

const appendScores = (
  appender: DuckDBAppender,
  out: Float64Array,
  rows: number,
  { outputWidth, partial }: AnyModel,
  fields: number,
): void => {
  const chunk = DuckDBDataChunk.create(
    Array.from({ length: fields }, () => DOUBLE),
    rows,
  )
  for (let field = 0; field < fields; field++) {
    const vector = chunk.getColumnVector(field)
    const items = doubles(vector)
    for (let row = 0; row < rows; row++) items[row] = out[row * outputWidth + field] ?? NaN
    if (partial) hideUnknown(vector, items, rows)
    vector.flush()
  }
  appender.appendDataChunk(chunk)
}

/** Columns that hold a model's inputs in the staged table. */
export const parameterNames = (use: number, count: number) => Array.from({ length: count }, (_, i) => `ledger_${use}_${i}`)

type StagedRows = { table: string; rows: number; firstRow: bigint }

/** The content of a stage. The rows of a transaction that is still open have numbers from a range of their own. */
const measure = async (connection: DuckDBConnection, table: string): Promise<StagedRows> => {
  const counted = await runOwn(connection, `SELECT count(*), min(rowid) FROM temp.${table}`)
  const [rows, firstRow] = (await counted.getRows())[0] ?? []
  return { table, rows: Number(rows), firstRow: typeof firstRow === 'bigint' ? firstRow : 0n }
}

/** The numbering of the chunks of a stage. */
const scoring = ({ bound, extent }: StagedUse, signal: AbortSignal): ((chunk: DuckDBDataChunk) => Promise<Float64Array>) => {
  const { model } = bound
  if (isRemote(model)) {
    const scorer = new RemoteScorer({ ...bound, model }, signal)
    return async (chunk) => {
      const scores = await scorer.score(chunk, 0)
      checkAborted(signal)
      return scores
    }
  }
  const scorer = new ChunkScorer({ ...bound, model }, extent)
  return (chunk) => scorer.scoreInTurns(chunk, 0)
}

const scoreTable = async (session: Session, { table, rows, firstRow }: StagedRows, index: number, use: StagedUse): Promise<string> => {
  const { connection, signal } = session
  const fields = fieldsOf(use.bound.model, use.extent)
  const scores = `${table}_${index}`
  await runOwn(connection, `CREATE TEMP TABLE ${scores} (${fields.map((field) => `${field} DOUBLE`).join(', ')})`)
  const appender = await connection.createAppender(scores, 'main', 'temp')
  const score = scoring(use, signal)
  const columns = parameterNames(index, use.parameters.length).join(', ')
  let scored = 0
  for (let from = firstRow; from < firstRow + BigInt(rows); from += batchRows) {
    checkAborted(signal)
    const result = await runOwn(connection, `SELECT ${columns} FROM temp.${table} WHERE rowid >= ${from} AND rowid < ${from + batchRows}`)
    for (let chunk = await result.fetchChunk(); chunk && chunk.rowCount > 0; chunk = await result.fetchChunk()) {
      appendScores(appender, await score(chunk), chunk.rowCount, use.bound.model, fields.length)
      scored += chunk.rowCount
    }
  }
  appender.closeSync()
  if (scored !== rows) throw new Error(`${scored} of ${rows} rows were scored`)
  session.staged.push({ bound: use.bound, rows, isServed: use.isServed })
  return scores
}

const packed = (use: StagedUse, index: number): string => {
  const fields = fieldsOf(use.bound.model, use.extent).map((field) => `${field} := r${index}.${field}`)
  return `struct_pack(${fields.join(', ')}) AS ${use.column}`
}

const nextTable = ({ staged }: Session) => `ledger_stage_${staged.length}`

/** Runs a query into a separate table, and measures this table. */
const copy = async (session: Session, node: AstNode, select: string): Promise<StagedRows> => {
  const { connection } = session
  const table = nextTable(session)
  const text = await printSelect(connection, node)
  checkAborted(session.signal)
  const before = `CREATE TEMP TABLE ${table} AS SELECT ${select} FROM (`
  await withText(text, node, () => readChecked(connection, text, { before, after: ') AS t', kind: StatementType.CREATE }), before.length)
  return measure(connection, table)
}

const namedParameters = (use: StagedUse, index: number): AstNode[] =>
  parameterNames(index, use.parameters.length).map((name, i) => aliased(name, use.parameters[i] ?? star('')))

/**
 * Scores all rows of a table before the query that reads them. It copies the table with the models' inputs and runs the models chunk by
 * chunk; other queries run in the pauses. Returns a query that gives the rows with their scores.
 */
export const stageRows = async (
  session: Session,
  leaf: AstNode,
  where: AstNode | null,
  uses: readonly StagedUse[],
  scope: Scope,
): Promise<AstNode> => {
  const staged = await copy(session, standalone([star(''), ...uses.flatMap(namedParameters)], leaf, where, scope), '*')
  const scores: string[] = []
  for (const [index, use] of uses.entries()) scores.push(await scoreTable(session, staged, index, use))
  const hidden = uses.flatMap((use, index) => parameterNames(index, use.parameters.length))
  const joined = scores.map((name, index) => `POSITIONAL JOIN temp.${name} AS r${index}`).join(' ')
  const columns = [`s.* EXCLUDE (${hidden.join(', ')})`, ...uses.map(packed)]
  return parseSelect(session.connection, `SELECT ${columns.join(', ')} FROM temp.${staged.table} AS s ${joined}`)
}

/** Scores that the inputs identify: a query with the inputs' columns and the scores. */
export type ScoredInputs = { query: AstNode; inputs: string[] }

/** The same for a join of tables: every combination of inputs that satisfies a condition is scored once. */
export const stageInputs = async (
  session: Session,
  from: AstNode,
  where: AstNode | null,
  use: StagedUse,
  index: number,
  scope: Scope,
): Promise<ScoredInputs> => {
  const staged = await copy(session, standalone(namedParameters(use, index), from, where, scope), 'DISTINCT *')
  const scores = await scoreTable(session, staged, index, use)
  const sql = `SELECT s.*, ${packed(use, index)} FROM temp.${staged.table} AS s POSITIONAL JOIN temp.${scores} AS r${index}`
  return { query: await parseSelect(session.connection, sql), inputs: parameterNames(index, use.parameters.length) }
}
