import { randomInt } from 'node:crypto'
import type { Json, JsonObject, StreamId } from '../../events/common.js'
import type { LedgerCommand } from '../commands/dispatch.js'
import type { Execution, Ledger } from '../commands/ledger.js'
import { isProblem, notFound, Problem } from '../errors.js'
import type { Origin, Outcome, Resources } from '../log/log.js'
import type { PredictionRecorder } from '../models/recorder.js'
import { answerQuery, type Analytics } from './answer-query.js'
import { positionAsOf, refuseWriteAsOf, resourcesAsOf, type AsOf } from './as-of.js'
import { chunkOf, errorMessage, tableOf, unlessEmpty, type SqlAnswer, type SqlContext } from './answer.js'
import type { RowFormat } from './encode/chunks.js'
import { describeModelPlace, findModelPlace, modelRow, type Described } from './describe-model.js'
import { evaluateAsSelect } from './evaluate.js'
import type { CommandScope } from './command-scope.js'
import { toCommands } from './interpret.js'
import { toModelCommand } from './interpret-model.js'
import { connectionProblem } from './connections.js'
import { inStatement } from './made-statement.js'
import { parseStatement } from './statements/parse.js'
import { showAsSelect, tableExists } from './statements/show.js'
import type { Parameters, Span, Statement, StatementOf } from './statements/statement.js'
import { systemAnswer, type FixedTable } from './statements/system.js'
import { hideSecrets } from '../vault/secrets.js'
import { checkNames } from './outcomes/column-names.js'
import type { Wanted } from './outcomes/wanted.js'
import type { RunToFile, TableWriter, Writing, Written } from './table-writer.js'
import { refuseUnavailable } from './unavailable.js'

type Options = {
  ledger: Ledger
  analytics: Analytics
  trainings: { enqueue: (model: StreamId, version: number) => void }
  recorder: Pick<PredictionRecorder, 'served' | 'scored'>
  tables: Pick<TableWriter, 'create' | 'insert'>
  defaultProject: string
  version: string
}

/**
 * A statement as it was sent: `db` is where names are looked up, the default project when none is given; with `asOf` it reads the
 * past, and may only read; `format` is how rows are wanted, which answers of a few rows do not keep to: theirs are always JSON.
 */
export type SqlRequest = {
  query: string
  db?: string | undefined
  asOf?: AsOf | undefined
  params?: Parameters | undefined
  format?: RowFormat | undefined
  origin: Origin
  execution?: Execution
  signal?: AbortSignal
}

/** One statement under way; `position` is the one that its `asOf` names. */
type Session = SqlRequest & { context: SqlContext; position?: number }

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
    const { query, db = this.options.defaultProject, asOf, params } = request
    const context: SqlContext = { db, show_secrets: false, ...(asOf !== undefined && { as_of: asOf }) }
    try {
      const statement = parseStatement(query, params)
      if (asOf === undefined) return await this.#answer(statement, { ...request, context })
      refuseWriteAsOf(statement, asOf)
      const position = await positionAsOf((sql) => this.#rows(sql, asOf))
      return await this.#answer(statement, { ...request, context, position })
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
  async checkView(query: string, database: string, within?: Span, params?: Parameters): Promise<void> {
    const inner = within ? query.slice(within.start, within.end) : query
    const { kind } = parseStatement(inner, params)
    if (kind !== 'select' && kind !== 'system_select')
      throw new Problem('bad_statement', 'Not a query', 'a view is made of a SELECT', { hint: 'CREATE VIEW name AS (SELECT …)' })
    const { position } = await this.options.ledger.log.head()
    const request = {
      sql: query,
      db: database,
      defaultProject: this.options.defaultProject,
      upTo: position,
      ...(within && { within }),
      ...(params && { params }),
    }
    const { rows } = await this.options.analytics.query({ ...request, wanted: { kind: 'columns' } }, {})
    checkNames(
      (await rowsOf(rows)).map(([name]) => ({ name: String(name) })),
      'view',
    )
  }

  get #resources() {
    return this.options.ledger.log.resources
  }

  /** All rows of a small query of our own, at a position of the past. */
  async #rows(sql: string, asOf: AsOf, params: Parameters = {}): Promise<unknown[][]> {
    const { ledger, analytics, defaultProject } = this.options
    const { position } = await ledger.log.head()
    const { rows } = await analytics.query({ sql, db: defaultProject, defaultProject, upTo: position, asOf, params }, {})
    return rowsOf(rows)
  }

  /** Resources as the statement may see them: now, or then. */
  #resourcesOf({ position }: Session): Pick<Resources, 'one'> {
    if (position === undefined) return this.#resources
    return resourcesAsOf(this.options.ledger.log, position, (sql, params) => this.#rows(sql, position, params))
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
        return this.#systemAnswer(statement, session) ?? this.#query(statement.sql, session)
      case 'show':
        return this.#show(statement, session)
      case 'describe':
        return this.#query(showAsSelect(statement, context.db, this.options.version), session)
      case 'describe_model':
        return this.#describe(statement.parts, session)
      case 'evaluate':
        return this.#made(evaluateAsSelect(statement), session)
      case 'explain':
        return this.#select({ sql: session.query, within: statement.span, wanted: { kind: 'plan', analyze: statement.analyze } }, session)
      case 'explain_command':
        return this.#explainCommand(statement.statement, session)
      case 'create_table':
        return this.#writeTable(session, (writing) => this.options.tables.create(statement, writing))
      case 'insert':
        return this.#writeTable(session, (writing) => this.options.tables.insert(statement, writing))
      case 'use':
        return {
          type: 'ok',
          affected_rows: null,
          context: { ...context, db: await this.#databaseNamed(statement.name, session) },
          positions: [],
        }
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
    return this.#select({ sql }, session)
  }

  /** A SELECT that the statement was made into; its errors speak of the statement. */
  async #made(sql: string, session: Session): Promise<SqlAnswer> {
    try {
      return await this.#query(sql, session)
    } catch (error) {
      throw inStatement(error, sql, session.query)
    }
  }

  #select(select: { sql: string; within?: Span; wanted?: Wanted }, session: Session): Promise<SqlAnswer> {
    const { recorder, ledger, analytics, defaultProject } = this.options
    return answerQuery({ ...session, ...select, log: ledger.log, analytics, recorder, defaultProject })
  }

  async #writeTable(session: Session, write: (writing: Writing) => Promise<Written>): Promise<SqlAnswer> {
    const { query, context, origin, execution } = session
    const run: RunToFile = async (select) => {
      const answer = await this.#select(select, session)
      if (answer.type !== 'table') throw new TypeError('a query was not answered with a table')
      const [row = []] = await rowsOf(answer.rows)
      return { row, positions: answer.positions }
    }
    const { rows, positions } = await write({ query, db: context.db, origin, execution, run })
    return { type: 'ok', affected_rows: rows, context, positions }
  }

  /** The command that a statement of ours would be. Nothing of it is carried out, and no secret of it is shown. */
  async #explainCommand(statement: Statement, { context }: Session): Promise<SqlAnswer> {
    const commands = (await toCommands(statement, this.#scope(context.db))) ?? []
    if (commands.length === 0)
      throw new Problem(
        'refused_statement',
        'Nothing to explain',
        'EXPLAIN shows how a query is answered, or the command that a statement becomes',
        {
          hint: 'EXPLAIN SELECT …, EXPLAIN CREATE AGENT …; for a table that is written, explain its query.',
        },
      )
    const rows = commands.flatMap(({ type, data }) => [
      ['command', type],
      ['data', JSON.stringify(hideSecrets(data))],
    ])
    return tableOf(['section', 'text'], rows, context)
  }

  #systemAnswer(statement: StatementOf<'system_select' | 'show'>, { context, origin }: Session): SqlAnswer | undefined {
    const known = systemAnswer(statement, { db: context.db, version: this.options.version, user: origin.actor })
    return known && fixedAnswer(known, context)
  }

  async #show(statement: StatementOf<'show'>, session: Session): Promise<SqlAnswer> {
    const { db } = session.context
    await this.#checkShown(statement, session)
    const answer = this.#systemAnswer(statement, session) ?? (await this.#made(showAsSelect(statement, db, this.options.version), session))
    return ofTable.has(statement.what) ? this.#needTable(answer, statement, session) : answer
  }

  /** What SHOW is asked of must be there, and readable. */
  async #checkShown({ what, from }: StatementOf<'show'>, session: Session): Promise<void> {
    if (!from && unscoped.has(what)) return
    const scope = await this.#databaseNamed(scopeOf(from ?? [], what, session.context.db), session)
    if (!ofTable.has(what) && what !== 'tables' && what !== 'table_status') return
    const connection = await this.#resourcesOf(session).one('database', scope)
    if (connection) throw connectionProblem(connection.state)
  }

  /** Nothing to show of a table may mean that there is none. */
  async #needTable(answer: SqlAnswer, { from }: StatementOf<'show'>, session: Session): Promise<SqlAnswer> {
    const { db } = session.context
    const shown = await unlessEmpty(answer)
    if (shown || answer.type !== 'table') return shown ?? answer
    if (await unlessEmpty(await this.#query(tableExists(from, db), session))) return { ...answer, rows: chunkOf([]), format: 'json' }
    throw new Problem(
      'not_found',
      'Table not found',
      `Table '${from?.at(-1) ?? ''}' not found in database: ${scopeOf(from ?? [], 'columns', db)}`,
      {
        hint: 'SELECT * FROM information_schema.tables lists what there is.',
      },
    )
  }

  async #describe(parts: readonly string[], session: Session): Promise<SqlAnswer> {
    const { db } = session.context
    const resources = this.#resourcesOf(session)
    try {
      return rowsAnswer(describeModelPlace(await findModelPlace(parts, db, resources), this.options.version), session.context)
    } catch (error) {
      // Views, files and the tables of this service have columns to describe.
      if (!isProblem(error) || error.code !== 'not_found' || parts.length > 2) throw error
      const columns = showAsSelect({ kind: 'show', what: 'columns', full: false, from: [...parts], like: null, where: null }, db)
      const answer = await unlessEmpty(await this.#query(columns, session))
      if (answer) return answer
      throw error
    }
  }

  /** The name of a project, a connection or a system database as it was created. */
  async #databaseNamed(name: string, session: Session): Promise<string> {
    const system = systemDatabases.find((known) => known === name.toLowerCase())
    const resources = this.#resourcesOf(session)
    const found = (await resources.one('project', name)) ?? (await resources.one('database', name))
    // In the past, the query of a table in it says since when it is there.
    if (system === undefined && !found && session.position !== undefined)
      await this.#rows(`SELECT * FROM \`${name.replaceAll('`', '``')}\`.models`, session.position)
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
    if (statement.kind === 'create_view' || statement.kind === 'alter_view') await this.#checkStatement(statement, session)
    const commands = (await toCommands(statement, this.#scope(context.db))) ?? refuseUnavailable(statement)
    if (commands.length === 0) return { type: 'ok', affected_rows: null, context, positions: [] }
    const { positions } = await this.options.ledger.executeAll(commands, origin, execution)
    return { type: 'ok', affected_rows: null, context, positions }
  }

  async #checkStatement({ target, source }: StatementOf<'create_view' | 'alter_view'>, { query, params, context }: Session): Promise<void> {
    const projectName = target.project ?? context.db
    const project = await this.#resources.one('project', projectName)
    if (!project) throw notFound('project', projectName)
    await this.checkView(query, source.database ?? project.state.name, source.span, params)
  }
}

/** All rows of an answer that is known to be small. */
const rowsOf = async (chunks: AsyncIterable<Buffer>): Promise<unknown[][]> => {
  const texts: string[] = []
  for await (const chunk of chunks) if (chunk.length > 0) texts.push(chunk.toString())
  return JSON.parse(`[${texts.join(',')}]`) as unknown[][]
}

type Shown = StatementOf<'show'>['what']

/** SHOW says something of one table. */
const ofTable = new Set<Shown>(['columns', 'create_table', 'create_view', 'index'])
/** SHOW says the same in every database. */
const unscoped = new Set<Shown>([
  'databases',
  'projects',
  'ml_engines',
  'handlers',
  ...(['variables', 'status', 'engines', 'plugins', 'charset', 'collation', 'warnings', 'errors'] as const),
  ...(['function_status', 'procedure_status', 'events', 'processlist', 'privileges', 'search_path'] as const),
])

/** What FROM names is a database, except where it names a table in one. */
const scopeOf = (from: readonly string[], what: Shown, db: string): string => {
  if (!ofTable.has(what)) return from.at(-1) ?? db
  return from.length > 1 ? (from.at(-2) ?? db) : db
}

const fixedAnswer = ({ columns, rows }: FixedTable, context: SqlContext): SqlAnswer => tableOf(columns, rows, context)

const rowsAnswer = (rows: readonly JsonObject[], context: SqlContext, positions: number[] = []): SqlAnswer => {
  const columns = Object.keys(rows[0] ?? {})
  const cells = rows.map((row) => columns.map((column): Json => row[column] ?? null))
  return tableOf(columns, cells, context, positions)
}
