import { randomInt } from 'node:crypto'
import type { Json, JsonObject, StreamId } from '../../events/common.js'
import type { LedgerCommand } from '../commands/dispatch.js'
import type { Execution, Ledger } from '../commands/ledger.js'
import { isProblem, notFound, Problem } from '../errors.js'
import type { Origin, Outcome } from '../log/log.js'
import type { PredictionRecorder } from '../models/recorder.js'
import { answerQuery, type Analytics } from './answer-query.js'
import { errorMessage, tableOf, type SqlAnswer, type SqlContext } from './answer.js'
import type { RowFormat } from './encode/chunks.js'
import { describeModelPlace, findModelPlace, modelRow, type Described } from './describe-model.js'
import { evaluateAsSelect } from './evaluate.js'
import type { CommandScope } from './command-scope.js'
import { toCommands } from './interpret.js'
import { toModelCommand } from './interpret-model.js'
import { parseStatement } from './statements/parse.js'
import { showAsSelect } from './statements/show.js'
import type { Parameters, Statement, StatementOf } from './statements/statement.js'
import { systemAnswer, type FixedTable } from './statements/system.js'
import { refuseUnavailable } from './unavailable.js'

type Options = {
  ledger: Ledger
  analytics: Analytics
  trainings: { enqueue: (model: StreamId, version: number) => void }
  recorder: Pick<PredictionRecorder, 'served' | 'scored'>
  defaultProject: string
  version: string
}

/**
 * A statement as it was sent: `db` is where names are looked up, the default project when none is given; `format` is how rows
 * are wanted, which answers of a few rows do not keep to: theirs are always JSON.
 */
export type SqlRequest = {
  query: string
  db?: string | undefined
  params?: Parameters | undefined
  format?: RowFormat | undefined
  origin: Origin
  execution?: Execution
  signal?: AbortSignal
}

/** One statement under way. */
type Session = SqlRequest & { context: SqlContext }

const systemDatabases: readonly string[] = ['information_schema', 'log', 'files']

/** 2³²: seeds are what fits an unsigned integer of 32 bits. */
const seeds = 2 ** 32

/**
 * Answers SQL statements: what writes becomes the same command as over REST, what reads goes to the analytics process.
 * Keeps nothing between statements; the client sends its context with each.
 *
 * @example const answer = await engine.execute({ query: 'SHOW AGENTS', db: 'shop', origin })
 */
export class SqlEngine {
  constructor(private readonly options: Options) {}

  /** Every refusal is an answer of type error; only faults of this service throw. */
  async execute(request: SqlRequest): Promise<SqlAnswer> {
    const context: SqlContext = { db: request.db ?? this.options.defaultProject, show_secrets: false }
    try {
      return await this.#answer(parseStatement(request.query, request.params), { ...request, context })
    } catch (error) {
      if (!isProblem(error) || error.code === 'internal') throw error
      return { type: 'error', error_code: 0, error_message: errorMessage(error), context, problem: error }
    }
  }

  /** Runs a CREATE MODEL statement in a project, and has the version trained. */
  async createModel(statement: StatementOf<'create_model'>, project: string, origin: Origin, execution: Execution = {}): Promise<Outcome> {
    return this.#train(toModelCommand(statement, this.#scope(project)), origin, execution)
  }

  /** Rows of DESCRIBE for a model named by its parts. */
  async describeModel(parts: readonly string[], db = this.options.defaultProject): Promise<Described> {
    return describeModelPlace(await findModelPlace(parts, db, this.#resources), this.options.version)
  }

  /**
   * Refuses a query that cannot be a view's: one that is no SELECT, or that DuckDB cannot bind as things are now.
   * @throws Problem of the query
   */
  async checkView(query: string, database: string): Promise<void> {
    const statement = parseStatement(query)
    if (statement.kind !== 'select' && statement.kind !== 'system_select')
      throw new Problem('bad_statement', 'Not a query', 'a view is made of a SELECT', { hint: 'CREATE VIEW name AS (SELECT …)' })
    const { position } = await this.options.ledger.log.head()
    const sql = `SELECT * FROM (${statement.sql}) AS checked LIMIT 0`
    const request = { sql, db: database, defaultProject: this.options.defaultProject, upTo: position }
    const { rows } = await this.options.analytics.query(request, {})
    // Read to its end, an answer gives its place back at once.
    for await (const _ of rows) continue
  }

  get #resources() {
    return this.options.ledger.log.resources
  }

  #scope(db: string): CommandScope {
    return { db, defaultProject: this.options.defaultProject, resources: this.#resources, seed: () => randomInt(seeds), now: Date.now }
  }

  async #answer(statement: Statement, session: Session): Promise<SqlAnswer> {
    const { context } = session
    switch (statement.kind) {
      case 'select':
        return this.#query(statement.sql, session)
      case 'system_select':
      case 'show':
      case 'describe':
        return this.#show(statement, session)
      case 'describe_model':
        return this.#describe(statement.parts, session)
      case 'evaluate':
        return this.#query(evaluateAsSelect(statement), session)
      case 'use':
        return { type: 'ok', affected_rows: null, context: { ...context, db: await this.#databaseNamed(statement.name) }, positions: [] }
      case 'chatter':
        return { type: 'ok', affected_rows: null, context, positions: [] }
      case 'create_model':
      case 'retrain_model':
        return this.#request(statement, session)
      default:
        return this.#write(statement, session)
    }
  }

  #query(sql: string, session: Session): Promise<SqlAnswer> {
    const { recorder, ledger, analytics, defaultProject } = this.options
    return answerQuery({ ...session, sql, log: ledger.log, analytics, recorder, defaultProject })
  }

  async #show(statement: StatementOf<'system_select' | 'show' | 'describe'>, session: Session): Promise<SqlAnswer> {
    const { db } = session.context
    const known = systemAnswer(statement, { db, version: this.options.version, user: session.origin.actor })
    if (known) return fixedAnswer(known, session.context)
    if (statement.kind === 'system_select') throw new TypeError('the server does not know itself')
    if (statement.kind === 'show' && statement.from) await this.#databaseNamed(scopeOf(statement.from, statement.what, db))
    return this.#query(showAsSelect(statement, db, this.options.version), session)
  }

  async #describe(parts: readonly string[], session: Session): Promise<SqlAnswer> {
    const { db } = session.context
    try {
      return rowsAnswer(await this.describeModel(parts, db), session.context)
    } catch (error) {
      const [table = '', schema = db] = [...parts].reverse()
      // An uploaded file has columns to describe, and no model has its name.
      if (!isProblem(error) || parts.length > 2 || schema.toLowerCase() !== 'files' || !(await this.#resources.one('file', table)))
        throw error
      return this.#query(
        showAsSelect({ kind: 'show', what: 'columns', full: false, from: [schema, table], like: null, where: null }, db),
        session,
      )
    }
  }

  /** The name of a project, a connection or a system database as it was created. */
  async #databaseNamed(name: string): Promise<string> {
    const system = systemDatabases.find((known) => known === name.toLowerCase())
    const found = (await this.#resources.one('project', name)) ?? (await this.#resources.one('database', name))
    const known = system ?? found?.state.name
    if (known === undefined) throw new Problem('not_found', 'Database not found', `Database ${name} does not exists`)
    return known
  }

  async #request(statement: StatementOf<'create_model' | 'retrain_model'>, session: Session): Promise<SqlAnswer> {
    const { context, origin, execution } = session
    const { resource, positions } = await this.#train(toModelCommand(statement, this.#scope(context.db)), origin, execution)
    const version = resource?.kind === 'model' ? resource.state.versions.at(-1) : undefined
    if (resource?.kind !== 'model' || !version || positions.length === 0) return { type: 'ok', affected_rows: null, context, positions }
    const project = await this.#resources.byStream('project', resource.state.project)
    return rowsAnswer([modelRow(project?.state.name ?? context.db, resource, version, this.options.version)], context, positions)
  }

  async #train(command: LedgerCommand, origin: Origin, execution: Execution = {}): Promise<Outcome> {
    const outcome = await this.options.ledger.execute(command, origin, execution)
    const { resource, positions, repeated } = outcome
    const version = resource?.kind === 'model' ? resource.state.versions.at(-1) : undefined
    if (resource && version && positions.length > 0 && !repeated) this.options.trainings.enqueue(resource.stream, version.version)
    return outcome
  }

  async #write(statement: Statement, session: Session): Promise<SqlAnswer> {
    const { context, origin, execution } = session
    if (statement.kind === 'create_view' || statement.kind === 'alter_view') await this.#checkStatement(statement, context.db)
    const commands = (await toCommands(statement, this.#scope(context.db))) ?? refuseUnavailable(statement)
    const positions: number[] = []
    for (const command of commands) {
      // A key stands for one command: a statement with several is sent without it.
      const outcome = await this.options.ledger.execute(command, origin, commands.length === 1 ? execution : {})
      positions.push(...outcome.positions)
    }
    return { type: 'ok', affected_rows: null, context, positions }
  }

  async #checkStatement({ target, source }: StatementOf<'create_view' | 'alter_view'>, db: string): Promise<void> {
    const projectName = target.project ?? db
    const project = await this.#resources.one('project', projectName)
    if (!project) throw notFound('project', projectName)
    await this.checkView(source.query, source.database ?? project.state.name)
  }
}

/** What FROM names is a database, except where it names a table in one. */
const scopeOf = (from: readonly string[], what: StatementOf<'show'>['what'], db: string): string => {
  if (what !== 'columns' && what !== 'create_table' && what !== 'index') return from.at(-1) ?? db
  return from.length > 1 ? (from.at(-2) ?? db) : db
}

const fixedAnswer = ({ columns, rows }: FixedTable, context: SqlContext): SqlAnswer => tableOf(columns, rows, context)

const rowsAnswer = (rows: readonly JsonObject[], context: SqlContext, positions: number[] = []): SqlAnswer => {
  const columns = Object.keys(rows[0] ?? {})
  const cells = rows.map((row) => columns.map((column): Json => row[column] ?? null))
  return tableOf(columns, cells, context, positions)
}
