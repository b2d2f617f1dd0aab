/**
 * Room: the server's side of SQL: it reads, writes and answers statements. It imports only events, basics, catalogue, vault, log, dialect,
 * sql, commands, connections, knowledge/contract, files and models.
 */

import { isProblem } from '../../basics/errors.js'
import { errorMessage, type SqlAnswer, type SqlContext } from '../contract/answer.js'
import { isBeyondHead, refuseWriteAsOf } from '../contract/as-of.js'
import { refuseWrite } from '../contract/read-only.js'
import { inTurns } from '../../basics/long-work.js'
import { withoutIds } from '../../log/contract/without-ids.js'
import { refuseForeignTexts } from './bound-texts.js'
import { answerOf, type EvaluateAgent } from './statement-answers.js'
import { KnowledgeWriter, type KnowledgeWriterOptions } from './knowledge-writer.js'
import { Reader, type ReaderOptions } from './reader.js'
import type { SqlRequest } from '../contract/request.js'
import { readStatement } from '../statements/parse.js'
import { withProgress } from './training/training-progress.js'
import { Writer, type WriterOptions } from './writer.js'

const noAgents: EvaluateAgent = () => Promise.reject(new TypeError('nothing here evaluates agents'))

/**
 * Answers SQL statements: a writing statement becomes the same command as over REST, and a reading statement goes to the SQL process.
 * Keeps nothing between statements; the client sends its context with each statement.
 *
 * @example const answer = await engine.execute({ query: 'SHOW AGENTS', db: 'shop', origin })
 */
export class SqlEngine {
  readonly reader: Reader
  readonly writer: Writer
  readonly knowledge: KnowledgeWriter
  readonly evaluateAgent: EvaluateAgent

  constructor(private readonly options: ReaderOptions & WriterOptions & KnowledgeWriterOptions & { evaluateAgent?: EvaluateAgent }) {
    this.reader = new Reader(options)
    this.writer = new Writer(options, this.reader)
    this.knowledge = new KnowledgeWriter(options, this.reader)
    this.evaluateAgent = options.evaluateAgent ?? noAgents
  }

  /**
   * Every refusal is an answer of type error. Only faults of this service are thrown.
   * @throws Problem 503 when the statement asks for a position that this node does not have and cannot check
   */
  async execute(asked: SqlRequest): Promise<SqlAnswer> {
    const request = { statement: Symbol('statement'), ...asked }
    const answer = await this.#execute(request)
    if (answer.type !== 'error' || !isBeyondHead(answer.problem)) return answer
    // Another node may have written this position.
    const newest = this.options.log.newest()
    if (!newest) return answer
    await newest
    return this.#execute(request)
  }

  async #execute(sent: SqlRequest): Promise<SqlAnswer> {
    const { asOf, params } = sent
    // Clients without a chosen database may send an empty name.
    const db = sent.db === undefined || sent.db === '' ? this.options.defaultProject : sent.db
    const context: SqlContext = { db, show_secrets: false, ...(asOf !== undefined && { as_of: asOf }) }
    try {
      const query = sent.isNative === true ? await this.reader.statementIn(db, sent.query) : sent.query
      const request = { ...sent, query }
      const statement = await inTurns(readStatement(query, params))
      await refuseForeignTexts(statement, request, withoutIds(this.options.log.resources))
      if (request.readsOnly === true && request.execution?.dryRun !== true) refuseWrite(statement)
      if (asOf !== undefined) refuseWriteAsOf(statement, asOf)
      const position = asOf === undefined ? undefined : await this.reader.positionAsOf(asOf, request.client)
      const running = { ...request, context, ...(position !== undefined && { position }) }
      if (request.last?.wantsBase) return await this.reader.baseOf(statement, running)
      return await (answerOf(statement, running, this) ?? this.writer.write(statement, running))
    } catch (error) {
      if (!isProblem(error) || error.code === 'internal') throw error
      const problem = withProgress(error, this.options.trainings.progressOf)
      return { type: 'error', error_code: 0, error_message: errorMessage(problem), context, problem }
    }
  }
}
