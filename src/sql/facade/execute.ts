import { isProblem } from '../../basics/errors.js'
import { errorMessage, type SqlAnswer, type SqlContext } from '../contract/answer.js'
import { refuseWriteAsOf } from '../contract/as-of.js'
import { inTurns } from '../../basics/long-work.js'
import { refuseDryRun } from './dry-run.js'
import { evaluateAsSelect } from './evaluate.js'
import { Reader, type ReaderOptions } from './reader.js'
import type { SqlRequest, StatementSession } from '../contract/request.js'
import { readStatement } from '../statements/parse.js'
import type { Statement } from '../statements/statement.js'
import { withProgress } from './training-progress.js'
import { Writer, type WriterOptions } from './writer.js'

/**
 * Answers SQL statements: what writes becomes the same command as over REST, what reads goes to the analytics process.
 * Keeps nothing between statements; the client sends its context with each.
 *
 * @example const answer = await engine.execute({ query: 'SHOW AGENTS', db: 'shop', origin })
 */
export class SqlEngine {
  readonly reader: Reader
  readonly writer: Writer

  constructor(private readonly options: ReaderOptions & WriterOptions) {
    this.reader = new Reader(options)
    this.writer = new Writer(options, this.reader)
  }

  /** Every refusal is an answer of type error; only faults of this service throw. */
  async execute(request: SqlRequest): Promise<SqlAnswer> {
    const { query, db = this.options.defaultProject, asOf, params } = request
    const context: SqlContext = { db, show_secrets: false, ...(asOf !== undefined && { as_of: asOf }) }
    try {
      const statement = await inTurns(readStatement(query, params))
      if (asOf === undefined) return await this.#answer(statement, { ...request, context })
      refuseWriteAsOf(statement, asOf)
      return await this.#answer(statement, { ...request, context, position: await this.reader.positionAsOf(asOf, request.client) })
    } catch (error) {
      if (!isProblem(error) || error.code === 'internal') throw error
      const problem = withProgress(error, (model, version) => this.options.trainings.progressOf(model, version))
      return { type: 'error', error_code: 0, error_message: errorMessage(problem), context, problem }
    }
  }

  async #answer(statement: Statement, session: StatementSession): Promise<SqlAnswer> {
    const { reader, writer } = this
    const { context } = session
    if (session.execution?.dryRun) refuseDryRun(statement)
    switch (statement.kind) {
      case 'select':
        return reader.selectSent(statement.sql, session)
      case 'system_select':
        return reader.system(statement, session) ?? reader.select({ sql: statement.sql }, session)
      case 'show':
        return reader.show(statement, session)
      case 'describe':
        return reader.describe(statement, session)
      case 'describe_model':
        return reader.describeNamed(statement.parts, session)
      case 'evaluate':
        return reader.made(evaluateAsSelect(statement), session)
      case 'explain':
        return reader.select({ sql: session.query, within: statement.span, wanted: { kind: 'plan', analyze: statement.analyze } }, session)
      case 'explain_command':
        return writer.explain(statement.statement, session)
      case 'create_table':
      case 'insert':
        return writer.writeTable(statement, session)
      case 'use': {
        const db = await reader.databaseNamed(statement.name, session)
        return { type: 'ok', affected_rows: null, context: { ...context, db }, positions: [] }
      }
      case 'chatter':
        return { type: 'ok', affected_rows: null, context, positions: [] }
      case 'create_model':
      case 'retrain_model':
        return writer.train(statement, session)
      default:
        return writer.write(statement, session)
    }
  }
}
