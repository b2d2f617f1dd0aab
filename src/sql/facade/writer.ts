import { randomInt } from 'node:crypto'
import type { StreamId } from '../../../events/common.js'
import type { FileContent } from '../../../events/file.js'
import { parseEnvelope } from '../../../events/stored/envelope.js'
import { notFound, Problem } from '../../basics/errors.js'
import type { LedgerCommand } from '../../commands/dispatch.js'
import type { Execution, Ledger } from '../../commands/ledger.js'
import type { ModelCommand } from '../../commands/model.js'
import { checkNames } from '../../dialect/column-names.js'
import { quoteName } from '../../dialect/strings.js'
import type { Log, Origin, Outcome } from '../../log/contract/log.js'
import { withoutIds } from '../../log/contract/lookups.js'
import { hideSecrets, maskSecrets } from '../../vault/seal-secrets.js'
import { allRows, tableOf, type SqlAnswer, type SqlContext } from '../contract/answer.js'
import type { RunningStatement } from '../contract/request.js'
import type { SelectService } from '../contract/select.js'
import { parseStatement } from '../statements/parse.js'
import type { Parameters, Span, Statement, StatementOf } from '../statements/statement.js'
import type { CommandInputs } from './commands/command-inputs.js'
import { createModel, retrainModel } from './commands/interpret-model.js'
import { toCommands } from './commands/interpret.js'
import { nativeViewQuery } from './commands/native-view-query.js'
import { modelRow } from './describe-model.js'
import { rowsAnswer, type Reader } from './reader.js'
import type { RunToFile, TableWriter } from './table-writer.js'
import { checkTraining } from './training/check-training.js'

export type WriterOptions = {
  ledger: Ledger
  log: Log
  sqlProcess: SelectService
  trainings: {
    requireRows: (model: StreamId, version: number) => Promise<void>
  }
  tables: Pick<TableWriter, 'create' | 'insert'>
  defaultProject: string
  version: string
}

/** A statement without FROM, with the rows of a file for the training. */
const learningFrom = (statement: StatementOf<'create_model'>, file: string): StatementOf<'create_model'> => ({
  ...statement,
  training: { ...statement.training, source: { database: 'files', query: `SELECT * FROM ${quoteName(file)}` } },
})

/** 2³²: a seed is an unsigned integer of 32 bits. */
const seeds = 2 ** 32

/** The events that a statement would record, one row for each; secrets show as ******. */
const plannedAnswer = (planned: readonly string[], context: SqlContext): SqlAnswer => {
  const rows = planned
    .map(parseEnvelope)
    .map(({ type, stream, version, data }) => [type, stream, version, JSON.stringify(maskSecrets(data))])
  return tableOf(['type', 'stream', 'version', 'data'], rows, context)
}

/** Answers the writing statements: each becomes the same commands as over REST. */
export class Writer {
  constructor(
    private readonly options: WriterOptions,
    private readonly reader: Reader,
  ) {}

  /** The answer to a request that comes again under its key, whatever has happened since; undefined for a new one. */
  async repeated({ context, origin, execution = {} }: RunningStatement): Promise<SqlAnswer | undefined> {
    const outcome = await this.options.ledger.repeated(origin, execution)
    return outcome && { type: 'ok', affected_rows: null, context, positions: outcome.positions }
  }

  /** Executes the commands of a statement: all commands or none. */
  async write(statement: Statement, running: RunningStatement): Promise<SqlAnswer> {
    return (await this.repeated(running)) ?? this.#carryOut(statement, running)
  }

  /** Creates a view, or gives it another query, after checking that a view can have this query. */
  async writeView(statement: StatementOf<'create_view' | 'alter_view'>, running: RunningStatement): Promise<SqlAnswer> {
    const repeated = await this.repeated(running)
    if (repeated) return repeated
    await this.#checkSource(statement, running)
    return this.#carryOut(statement, running)
  }

  /** Writes the rows of a query to a file. */
  async writeTable(statement: StatementOf<'create_table' | 'insert'>, running: RunningStatement): Promise<SqlAnswer> {
    const { query, context, origin, execution } = running
    const { tables } = this.options
    const run: RunToFile = async (select) => {
      const answer = await this.reader.select(select, running)
      if (answer.type !== 'table') throw new TypeError('a query was not answered with a table')
      const [row = []] = await allRows(answer.rows)
      return { row, positions: answer.positions, erasable: answer.erasable }
    }
    const writing = { query, db: context.db, origin, execution, run }
    const { rows, positions } = await (statement.kind === 'insert' ? tables.insert(statement, writing) : tables.create(statement, writing))
    return { type: 'ok', affected_rows: rows, context, positions }
  }

  /** Requests the training of a version, and answers the row that describes the version. */
  async train(statement: StatementOf<'create_model' | 'retrain_model'>, running: RunningStatement): Promise<SqlAnswer> {
    const { context, origin, execution } = running
    const inputs = this.#inputs(context.db)
    const command = statement.kind === 'create_model' ? createModel(statement, inputs) : retrainModel(statement, inputs)
    const { resource, positions, planned } = await this.#train(command, origin, execution)
    if (planned) return plannedAnswer(planned, context)
    const version = resource?.kind === 'model' ? resource.state.versions.at(-1) : undefined
    if (resource?.kind !== 'model' || !version || positions.length === 0) return { type: 'ok', affected_rows: null, context, positions }
    const project = await this.#resources.byStream('project', resource.state.project)
    return rowsAnswer([modelRow(project?.state.name ?? context.db, resource, version, this.options.version)], context, positions)
  }

  /**
   * Runs a CREATE MODEL statement in a project, and requests the training of the version. If rows came with it, they become the file for
   * the training: the file and the model are both created, or neither is.
   */
  createModel(
    statement: StatementOf<'create_model'>,
    { project, rows }: { project: string; rows?: { file: string; content: FileContent } | undefined },
    origin: Origin,
    execution: Execution = {},
  ): Promise<Outcome> {
    const command = createModel(rows ? learningFrom(statement, rows.file) : statement, this.#inputs(project))
    const first = rows && ({ type: statement.replace ? 'ReplaceFile' : 'CreateFile', data: rows } as const)
    return this.#train(command, origin, execution, first)
  }

  /** The commands that a statement would become. They are not executed, and their secrets are not shown. */
  async explain(statement: Statement, { context }: RunningStatement): Promise<SqlAnswer> {
    const commands = await toCommands(statement, this.#inputs(context.db))
    const detail = 'EXPLAIN shows how a query is answered, or the command that a statement becomes'
    const hint = 'EXPLAIN SELECT …, EXPLAIN CREATE AGENT …; for a table that is written, explain its query.'
    if (commands.length === 0) throw new Problem('refused_statement', 'Nothing to explain', detail, { hint })
    const rows = commands.flatMap(({ type, data }) => [
      ['command', type],
      ['data', JSON.stringify(hideSecrets(data))],
    ])
    return tableOf(['section', 'text'], rows, context)
  }

  /**
   * Refuses a query that cannot belong to a view: a query that is no SELECT, that DuckDB cannot bind at present, or that reads its own
   * view. `ofView` is the stream of this view.
   * @throws Problem of the query
   */
  async checkView(
    query: string,
    database: string,
    { actor }: Origin,
    { within, params, ofView }: { within?: Span | undefined; params?: Parameters | undefined; ofView?: string | undefined } = {},
  ): Promise<void> {
    const inner = within ? query.slice(within.start, within.end) : query
    const { kind } = parseStatement(inner, params)
    if (kind !== 'select' && kind !== 'system_select')
      throw new Problem('bad_statement', 'Not a query', 'a view is made of a SELECT', { hint: 'CREATE VIEW name AS (SELECT …)' })
    const { log, sqlProcess, defaultProject } = this.options
    const { position } = await log.head()
    const place = { sql: query, ...(within && { within }), db: database, defaultProject, upTo: position, user: actor }
    const { rows } = await sqlProcess.query({ ...place, ...(params && { params }), wanted: { kind: 'columns', ofView } }, {})
    checkNames(
      (await allRows(rows)).map(([name]) => ({ name: String(name) })),
      'view',
    )
  }

  async #carryOut(statement: Statement, { context, origin, execution }: RunningStatement): Promise<SqlAnswer> {
    const { ledger } = this.options
    // Secrets of a job that stay may be erased before its change is recorded.
    const guarded = statement.kind === 'alter_job' ? await ledger.guarded(origin) : origin
    const commands = await toCommands(statement, this.#inputs(context.db))
    if (commands.length === 0) return { type: 'ok', affected_rows: null, context, positions: [] }
    const { positions, planned } = await ledger.executeAll(commands, guarded, execution)
    if (planned) return plannedAnswer(planned, context)
    return { type: 'ok', affected_rows: null, context, positions }
  }

  get #resources() {
    return withoutIds(this.options.log.resources)
  }

  #inputs(db: string): CommandInputs {
    return {
      db,
      defaultProject: this.options.defaultProject,
      resources: this.#resources,
      payloads: this.options.log,
      seed: () => randomInt(seeds),
      now: () => this.options.log.now(),
    }
  }

  /** The model's command is the last, so its outcome is returned. The log now has the request, so the training will run. */
  async #train(command: ModelCommand, origin: Origin, execution: Execution = {}, first?: LedgerCommand): Promise<Outcome> {
    await this.#checkTraining(command, origin, execution, first)
    return this.options.ledger.executeAll([...(first ? [first] : []), command], origin, execution)
  }

  /** A repeated request gets its first answer again, whatever has happened to its data since. */
  async #checkTraining(command: ModelCommand, origin: Origin, execution: Execution, first?: LedgerCommand): Promise<void> {
    const { ledger, log, sqlProcess, defaultProject } = this.options
    if (await ledger.repeated(origin, execution)) return
    if (command.type === 'FinetuneModel') await this.#requireRows(command.data)
    const given = first?.type === 'CreateFile' || first?.type === 'ReplaceFile' ? first.data.content.columns : undefined
    await checkTraining(command, origin.actor, { log, sqlProcess, defaultProject }, given)
  }

  /** Refuses a FINETUNE from erased rows. The command itself refuses a missing version. */
  async #requireRows({
    project: inProject,
    model: name,
    version,
  }: {
    project: string
    model: string
    version: number | null
  }): Promise<void> {
    const project = await this.#resources.one('project', inProject)
    const model = project && (await this.#resources.one('model', name, project))
    const from = version ?? model?.state.active
    if (model && typeof from === 'number') await this.options.trainings.requireRows(model.stream, from)
  }

  async #checkSource({ target, source }: StatementOf<'create_view' | 'alter_view'>, running: RunningStatement): Promise<void> {
    const { query, params, context, origin } = running
    const projectName = target.project ?? context.db
    const project = await this.#resources.one('project', projectName)
    if (!project) throw notFound('project', projectName)
    const view = await this.#resources.one('view', target.name, project)
    const native = await nativeViewQuery(source, this.#resources)
    if (native !== undefined) return this.checkView(native, project.state.name, origin, { ofView: view?.stream })
    await this.checkView(query, source.database ?? project.state.name, origin, { within: source.span, params, ofView: view?.stream })
  }
}
