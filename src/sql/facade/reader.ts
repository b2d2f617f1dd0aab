import type { Json, JsonObject } from '../../../events/common.js'
import { isProblem, Problem } from '../../basics/errors.js'
import { inTurns } from '../../basics/long-work.js'
import { systemDatabaseOf } from '../../catalogue/system-databases.js'
import { lex, sourceLocationOf, tokensIn, type Token } from '../../dialect/lexer.js'
import { maskSecretsInSqlOf } from '../../dialect/mask-secrets.js'
import { offsetOf } from '../../dialect/source-location.js'
import { backQuoteName, queryOf, sentAsIs, withoutEnd } from '../../dialect/strings.js'
import type { KnowledgeStore } from '../../knowledge/contract/contents.js'
import type { Log, Resource, Resources } from '../../log/contract/log.js'
import { withoutIds } from '../../log/contract/lookups.js'
import { connectionNamed } from '../../log/read/by-name.js'
import { TimeTravel } from '../../log/read/time-travel.js'
import type { ProgressOf } from '../../models/training/progress.js'
import { allRows, chunkOf, hasRows, tableOf, unlessEmpty, type SqlAnswer, type SqlContext } from '../contract/answer.js'
import { listResources, positionAsOf, type AsOf } from '../contract/as-of.js'
import type { RunningStatement } from '../contract/request.js'
import type { SelectPart, SelectRequest } from '../contract/select.js'
import { calledTables, connectionProblem, isConnected, namesDatabase, sentTo } from '../engine/resolve/connections.js'
import type { Parameters, ShowTarget, Statement, StatementOf } from '../statements/statement.js'
import { answerSelect, type AnswerParts } from './answer-select.js'
import { describeModelPlace, findModelPlace } from './describe-model.js'
import { systemAnswer } from './server-answers.js'
import { showAsSelect, tableExists } from './show.js'

const shownPlace = / \(line \d+, column \d+\)\n>[^\n]*\n-*\^/

/**
 * Translates an error about a SELECT that was made from a statement (`SHOW AGENTS WHERE …`) into an error about the statement itself. The
 * error has the place of its word in the statement, or no place if the statement does not have the word. Reading a long statement takes
 * long, so other work runs between the readings.
 */
const inStatement = (error: unknown, made: string, query: string): Promise<unknown> => inTurns(placed(error, made, query))

function* placed(error: unknown, made: string, query: string): Generator<void, unknown> {
  if (!isProblem(error) || error.extras['view'] !== undefined) return error
  const { line, column, ...extras } = error.extras
  if (typeof line !== 'number' || typeof column !== 'number') return error
  const offset = offsetOf(made, line, column)
  const wrong = tokensIn(made)?.find(({ start, end }) => start <= offset && offset < end)
  yield
  // In the statement, the words that go into the SELECT come after the statement's own words.
  const tokens = tokensIn(query)
  const own = wrong && tokens?.findLast(({ text }) => text === wrong.text)
  if (!own) return new Problem(error.code, error.title, error.detail.replace(shownPlace, ''), extras)
  yield
  const place = sourceLocationOf(yield* maskSecretsInSqlOf(query, tokens), own.start)
  const detail = error.detail.replace(shownPlace, () => ` (line ${place.line}, column ${place.column})\n${place.caret}`)
  return new Problem(error.code, error.title, detail, { ...extras, line: place.line, column: place.column })
}

/** Whether a statement names a database, so that it is not for the one that it was sent to. */
const namesOther = async (tokens: readonly Token[], resources: Resources): Promise<boolean> => {
  if (namesDatabase(tokens)) return true
  for (const name of new Set(calledTables(tokens).map(({ value }) => value)))
    if (systemDatabaseOf(name) ?? (await resources.one('project', name)) ?? (await resources.one('database', name))) return true
  return false
}

export type ReaderOptions = Omit<AnswerParts, 'log' | 'askKnowledge'> & {
  log: Log
  version: string
  trainings: { progressOf: ProgressOf }
  knowledge: Pick<KnowledgeStore, 'answer'>
}

/** Forms of SHOW that are about one table. */
const ofTable = new Set<ShowTarget>(['columns', 'create_table', 'create_view', 'index'])
/** Forms of SHOW with the same answer in every database. */
const sameEverywhere = new Set<ShowTarget>([
  'databases',
  'projects',
  'ml_engines',
  'handlers',
  ...(['variables', 'status', 'engines', 'plugins', 'charset', 'collation', 'warnings', 'errors'] as const),
  ...(['function_status', 'procedure_status', 'events', 'processlist', 'privileges', 'search_path'] as const),
])

/** The name after FROM is a database, unless it is the name of a table in a database. */
const databaseShown = (from: readonly string[], what: ShowTarget, db: string): string => {
  if (!ofTable.has(what)) return from.at(-1) ?? db
  return from.length > 1 ? (from[0] ?? db) : db
}

/** The answer with one row for each object. */
export const rowsAnswer = (rows: readonly JsonObject[], context: SqlContext, positions: number[] = []): SqlAnswer => {
  const columns = Object.keys(rows[0] ?? {})
  const cells = rows.map((row) => columns.map((column): Json => row[column] ?? null))
  return tableOf(columns, cells, context, positions)
}

/** Answers the reading statements: SELECT, SHOW, DESCRIBE, and statements that become one of them, at the head or at a past position. */
export class Reader {
  readonly #past: TimeTravel

  constructor(private readonly options: ReaderOptions) {
    this.#past = new TimeTravel(options.log)
  }

  /** Answers a SELECT of the user, or the SELECT in a statement. */
  select(select: SelectPart, running: RunningStatement): Promise<SqlAnswer> {
    const { knowledge } = this.options
    const askKnowledge: AnswerParts['askKnowledge'] = (question, searchFor) => knowledge.answer(question, searchFor)
    return answerSelect(select, running, { ...this.options, askKnowledge })
  }

  /** Finds the values with which each LAST in the query of a job's statement begins. */
  baseOf(statement: Statement, running: RunningStatement): Promise<SqlAnswer> {
    if (statement.kind === 'select') return this.select({ sql: statement.sql }, running)
    const rows = statement.kind === 'insert' || statement.kind === 'create_table' ? statement.rows : []
    return this.select({ sql: running.query, ...(!Array.isArray(rows) && { within: rows }) }, running)
  }

  /** Answers a SELECT in its original form. @throws Problem when it was sent to a connection whose own system alone could answer it */
  async selectSent(sent: string, running: RunningStatement): Promise<SqlAnswer> {
    const { db } = running.context
    let sql = sent
    if (db !== this.options.defaultProject && systemDatabaseOf(db) === undefined) {
      const resources = this.#resourcesOf(running)
      const connection = await connectionNamed(resources, db)
      const tokens = connection ? lex(sent) : []
      if (connection && !(await namesOther(tokens, resources))) sql = sentTo(connection.state, tokens, sent)
    }
    const { into } = running
    if (into === undefined) return this.select({ sql }, running)
    const answer = await this.select({ sql, wanted: { kind: 'file', path: into } }, running)
    return answer.type === 'table' ? { ...answer, file: into } : answer
  }

  /** The statement that sends a query as it is to a connected database; a query for any other database is in the SQL of this service. */
  async statementIn(db: string, query: string): Promise<string> {
    const connection = await connectionNamed(withoutIds(this.options.log.resources), db)
    return connection ? sentAsIs(db, query) : queryOf(db, `\n${withoutEnd(query)}\n`)
  }

  /** The refusal of a statement that cannot be read: sent to a connection, it may be one of the database there. */
  async refusalIn(db: string, error: unknown): Promise<unknown> {
    if (!isProblem(error) || error.code !== 'bad_statement') return error
    const connection = await connectionNamed(withoutIds(this.options.log.resources), db)
    if (!connection || !isConnected(connection.state)) return error
    const { code, title, detail, extras } = error
    const hint = `A statement of the database itself is sent by ${queryOf(db, '…')}.`
    return new Problem(code, title, detail, { ...extras, hint: extras.hint === undefined ? hint : `${extras.hint} ${hint}` })
  }

  /** Answers a SELECT that was made from the statement. Its errors are about the statement. */
  async made(sql: string, running: RunningStatement): Promise<SqlAnswer> {
    try {
      return await this.select({ sql }, running)
    } catch (error) {
      throw await inStatement(error, sql, running.query)
    }
  }

  /** All rows of a small query of this service, at the head. */
  async rowsNow(sql: string, client: string | undefined, params: Parameters = {}): Promise<unknown[][]> {
    const { position } = await this.options.log.head()
    return this.#read({ sql, upTo: position, params }, client)
  }

  /** The position that `as_of` names. @throws Problem when it does not exist */
  positionAsOf(asOf: AsOf, client?: string): Promise<number> {
    return positionAsOf((sql) => this.#rows(sql, asOf, client))
  }

  /** Resources in their state at a position of the log. */
  resourcesAt(position: number, client?: string): Resources {
    // All later events are hidden, so the tables need not have processed them.
    const list = listResources((sql, params) => this.#read({ sql, upTo: position, ...(params && { params }) }, client))
    return this.#past.at(position, list)
  }

  /** The answer of this server about itself, if the statement asks for it. */
  system(statement: StatementOf<'system_select' | 'show'>, { context, origin }: RunningStatement): SqlAnswer | undefined {
    const known = systemAnswer(statement, { db: context.db, user: origin.actor })
    return known && tableOf(known.columns, known.rows, context)
  }

  /** Answers SHOW from fixed answers or by a SELECT. @throws Problem of the SELECT, and for a table that does not exist */
  async show(statement: StatementOf<'show'>, running: RunningStatement): Promise<SqlAnswer> {
    const shown = ofTable.has(statement.what) ? { ...statement, from: await this.#fullName(statement.from, running) } : statement
    await this.#checkShown(shown, running)
    const answer = this.system(shown, running) ?? (await this.made(showAsSelect(shown, running.context.db), running))
    return ofTable.has(shown.what) ? this.#needTable(answer, shown, running) : answer
  }

  /** Answers DESCRIBE by a SELECT over the tables that describe the others. @throws Problem of the query */
  describe(statement: StatementOf<'describe'>, running: RunningStatement): Promise<SqlAnswer> {
    return this.select({ sql: showAsSelect(statement, running.context.db) }, running)
  }

  /** DESCRIBE of a name: the name of a model, or else of a table. */
  async describeNamed(parts: readonly string[], running: RunningStatement): Promise<SqlAnswer> {
    const { db } = running.context
    try {
      const place = await findModelPlace(parts, db, this.#resourcesOf(running))
      const { trainings, version } = this.options
      const progressOf: ProgressOf = (model, of) => (running.position === undefined ? trainings.progressOf(model, of) : undefined)
      return rowsAnswer(describeModelPlace(place, version, progressOf), running.context)
    } catch (error) {
      // Views, files and the tables of this service have columns, which DESCRIBE can show.
      if (!isProblem(error) || error.code !== 'not_found') throw error
      const from = await this.#fullName([...parts], running)
      if (from.length > 2 && !(await this.#connection(from[0] ?? '', running))) throw error
      const columns = showAsSelect({ kind: 'show', what: 'columns', full: false, from, like: null, where: null }, db)
      const answer = await unlessEmpty(await this.select({ sql: columns }, running))
      if (answer) return answer
      throw error
    }
  }

  #connection(name: string, running: RunningStatement): Promise<Resource<'database'> | undefined> {
    return this.#resourcesOf(running).one('database', name)
  }

  /** The name of a table with its database. In a connection, `shop.orders` is a table of the schema shop, unless shop is a database. */
  async #fullName<T extends string[] | null>(from: T, running: RunningStatement): Promise<T> {
    const { db } = running.context
    if (from?.length !== 2 || !(await this.#connection(db, running))) return from
    const [first = ''] = from
    const isDatabase = (await this.#connection(first, running)) ?? (await this.#resourcesOf(running).one('project', first))
    return isDatabase || systemDatabaseOf(first) !== undefined ? from : ([db, ...from] as T)
  }

  /** The name of a project, a connection or a system database in its original spelling. */
  async databaseNamed(name: string, running: RunningStatement): Promise<string> {
    const system = systemDatabaseOf(name)
    if (system !== undefined) return system
    const resources = this.#resourcesOf(running)
    const found = (await resources.one('project', name)) ?? (await resources.one('database', name))
    if (found) return found.state.name
    await this.#refuseThen(name, running)
    throw new Problem('not_found', 'Database not found', `Database ${name} does not exists`)
  }

  /** Whether a database is a project or a system database, whose tables are those of this service. */
  async hasResources(name: string, running: RunningStatement): Promise<boolean> {
    return systemDatabaseOf(name) !== undefined || (await this.#resourcesOf(running).one('project', name)) !== undefined
  }

  /** In the past, a query of a table in the database reports when the database existed. @throws Problem with this report */
  async #refuseThen(name: string, { position, query, client }: RunningStatement): Promise<void> {
    if (position === undefined) return
    const made = `SELECT * FROM ${backQuoteName(name)}.models`
    try {
      await this.#rows(made, position, client)
    } catch (error) {
      const problem = await inStatement(error, made, query)
      if (!isProblem(problem)) throw problem
      const detail = problem.detail.replace("Table 'models' not found: there", 'There')
      throw new Problem(problem.code, problem.title, detail, problem.extras)
    }
  }

  /** Checks that the database of a SHOW exists and is readable. */
  async #checkShown({ what, from }: StatementOf<'show'>, running: RunningStatement): Promise<void> {
    if (!from && sameEverywhere.has(what)) return
    const database = await this.databaseNamed(databaseShown(from ?? [], what, running.context.db), running)
    if (!ofTable.has(what) && what !== 'tables' && what !== 'table_status') return
    const connection = await this.#resourcesOf(running).one('database', database)
    if (connection && !isConnected(connection.state)) throw connectionProblem(connection.state)
  }

  /** An empty list for a table may mean that the table does not exist. */
  async #needTable(answer: SqlAnswer, { from }: StatementOf<'show'>, running: RunningStatement): Promise<SqlAnswer> {
    const { db } = running.context
    const shown = await unlessEmpty(answer)
    if (shown || answer.type !== 'table') return shown ?? answer
    if (await hasRows(await this.select({ sql: tableExists(from, db) }, running))) return { ...answer, rows: chunkOf([]), format: 'json' }
    const detail = `Table '${from?.at(-1) ?? ''}' not found in database: ${databaseShown(from ?? [], 'columns', db)}`
    throw new Problem('not_found', 'Table not found', detail, { hint: 'SELECT * FROM information_schema.tables lists what there is.' })
  }

  /** Resources as the statement may see them, by name: at the head, or at its past position. */
  #resourcesOf({ position, client }: RunningStatement): Resources {
    return withoutIds(position === undefined ? this.options.log.resources : this.resourcesAt(position, client))
  }

  /** All rows of a small query of this service, at a past position. */
  async #rows(sql: string, asOf: AsOf, client: string | undefined): Promise<unknown[][]> {
    const { position } = await this.options.log.head()
    return this.#read({ sql, upTo: position, asOf }, client)
  }

  async #read(request: Omit<SelectRequest, 'db' | 'defaultProject'>, client: string | undefined): Promise<unknown[][]> {
    const { sqlProcess, defaultProject } = this.options
    const { rows } = await sqlProcess.query({ ...request, db: defaultProject, defaultProject }, { client })
    return allRows(rows)
  }
}
