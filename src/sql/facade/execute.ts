/**
 * Room: the server's side of SQL: it reads, writes and answers statements. It imports only events, basics, catalogue, vault, log, dialect,
 * sql, commands, connections, knowledge/contract, files and models.
 */

import { isProblem, Problem } from '../../basics/errors.js'
import { inTurns } from '../../basics/long-work.js'
import { driverOf, engineSpoken } from '../../catalogue/connection-engines.js'
import { lex, type Token } from '../../dialect/lexer.js'
import { closingBracket, isNameLike, isSymbol, isWord } from '../../dialect/tokens.js'
import type { Resources } from '../../log/contract/log.js'
import { withoutIds } from '../../log/contract/lookups.js'
import { connectionNamed } from '../../log/read/by-name.js'
import { errorMessage, type SqlAnswer, type SqlContext } from '../contract/answer.js'
import { isBeyondHead, refuseWriteAsOf } from '../contract/as-of.js'
import type { SqlRequest } from '../contract/request.js'
import { Cursor, literalOf } from '../statements/cursor.js'
import { effectOf } from '../statements/grammar.js'
import { readStatement } from '../statements/parse.js'
import type { Statement, StatementKind } from '../statements/statement.js'
import { KnowledgeWriter, type KnowledgeWriterOptions } from './knowledge-writer.js'
import { Reader, type ReaderOptions } from './reader.js'
import { answerOf, type EvaluateAgent } from './statement-answers.js'
import { withProgress } from './training/training-progress.js'
import { Writer, type WriterOptions } from './writer.js'

/** Refuses a writing statement if only reading statements are allowed. EXPLAIN of a writing statement only reads. */
const refuseWrite = (statement: Statement): void => {
  if (effectOf(statement) !== 'writes' || statement.kind === 'explain_command') return
  throw new Problem('refused_statement', 'Only statements that read', 'this statement writes, and here only statements that read are taken')
}

/** The statements that put the values of parameters into the text of a query. */
const binding: ReadonlySet<StatementKind> = new Set<StatementKind>([
  'create_job',
  'alter_job',
  'create_model',
  'retrain_model',
  'evaluate',
  'create_view',
  'alter_view',
])

/**
 * Refuses a text with a backslash as a parameter in `FROM database (…)`, unless a backslash is an escape in that database as it is here:
 * elsewhere the text would have another value.
 */
const refuseForeignTexts = async ({ kind }: Statement, { query, params }: SqlRequest, resources: Pick<Resources, 'one'>): Promise<void> => {
  if (params === undefined || !binding.has(kind)) return
  const tokens = lex(query)
  const cursor = new Cursor(query, tokens, params)
  let next: Token | undefined
  for (let i = tokens.length - 1; i > 0; i--) {
    const token = tokens[i]
    if (token?.kind === 'parameter' && literalOf(cursor.parameterOf(token)).includes('\\')) next = token
    if (!next || !isNameLike(token) || !isWord(tokens[i - 1], 'FROM', 'JOIN') || !isSymbol(tokens[i + 1], '(')) continue
    const close = tokens[closingBracket(tokens, i + 1) ?? tokens.length]
    if (!close || close.start < next.start) continue
    const found = await connectionNamed(resources, token.value)
    const driver = found && driverOf(engineSpoken(found.state.engine, found.state.parameters))
    if (driver !== undefined && driver !== 'mysql')
      throw new Problem(
        'wrong_arguments',
        'Wrong arguments',
        `${next.text} is a text with a backslash, and cannot stand in a query for ${token.value}`,
        { hint: 'Write the text in the query itself, as the database spells it.' },
      )
  }
}

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
      const statement = await inTurns(readStatement(query, params)).catch(async (error: unknown) => {
        throw await this.reader.refusalIn(db, error)
      })
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
