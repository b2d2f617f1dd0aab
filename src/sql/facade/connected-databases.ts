import { createHash, randomUUID } from 'node:crypto'
import { streamId, type JsonObject, type StreamId } from '../../../events/common.js'
import { eventLimits } from '../../../events/limits.js'
import type { ConnectionRead } from '../../../events/model.js'
import type { DatabaseQueried } from '../../../events/records/queries.js'
import { engineSpoken, whyNotOpened } from '../../catalogue/connection-engines.js'
import { refuseMovedSecrets } from '../../commands/rules/bound-keys.js'
import { mergeParams } from '../../commands/rules/params.js'
import { Problem } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import type { ConnectionStatus, Connections, OpenAnswer } from '../../connections/connections.js'
import {
  isWriting,
  type Connection,
  type ListedColumns,
  type QueryEnd,
  type Query,
  type QueryLimits,
  type TableComments,
  type Tables,
} from '../../connections/contract/requests.js'
import { isWritable } from '../../connections/engines/contract/parameters.js'
import type { Ledger } from '../../commands/ledger.js'
import { cutSecretsInTurns } from '../../dialect/mask-secrets.js'
import type { Log, Resource } from '../../log/contract/log.js'
import { systemOrigin } from '../../log/contract/origins.js'
import { openSecrets } from '../../vault/seal-secrets.js'
import type { ConnectedQuestion, ConnectedAnswer } from '../contract/connected.js'
import type { SelectRequest } from '../contract/select.js'
import { isConnected } from '../engine/resolve/connections.js'
import type { Logger } from '../../basics/logger.js'

type Parts = {
  ledger: Ledger
  log: Pick<Log, 'resources' | 'payload'>
  connections: Connections
  /** Whether every statement is recorded, not only those that may write, and those of trainings and skills. */
  recordsAll: boolean
  logger: Pick<Logger, 'warn'>
}

type OnReading = (end: Promise<QueryEnd>, leave: () => void) => void

const notAsItWas = (name: string): Problem =>
  new Problem(
    'refused_statement',
    'A connected database has no past here',
    `${name} is a connected database, which is read as it is now; its rows cannot be read again as they were`,
    { hint: 'To compare rows later, keep a copy of them and learn from it: CREATE TABLE files.name (SELECT …).' },
  )

/** A statement as its event may have it: constants are often longer in the database's language. */
const recordable = (statement: string): string => {
  if (statement.length <= eventLimits.textMaxChars) return statement
  const hash = createHash('sha256').update(statement).digest('hex')
  const mark = ` … (${statement.length} characters, SHA-256 ${hash})`
  return `${statement.slice(0, eventLimits.textMaxChars - mark.length).toWellFormed()}${mark}`
}

/** Whether a statement may change something: its sender asks for that, and its connection allows it. */
const isSentToWrite = (query: Query, { parameters }: Connection): boolean => isWriting(query) && isWritable(parameters)

/** Nobody waits for the first row of a training: it may come as late as the last one. */
const limitsOf = ({ purpose }: SelectRequest): Partial<QueryLimits> =>
  purpose === 'training' ? { firstRowMs: limits.connectionStatementTimeoutMs } : {}

/** The connected databases from the log. Secrets are decrypted here, and only the process of the drivers gets them. */
export class ConnectedDatabases {
  readonly #recording = new Set<Promise<void>>()
  /** The connections whose tables a request has read, by this request. */
  readonly #read = new WeakMap<SelectRequest, Map<StreamId, ConnectionRead>>()
  /** The results of statements that write, by the statement of this service that sent them, or by its request. */
  readonly #written = new WeakMap<WeakKey, Map<string, Promise<QueryEnd>>>()

  constructor(private readonly parts: Parts) {}

  /**
   * Answers a question of a query. `onReading` gets a promise for the end of an answer whose rows the query reads from the database, and
   * a call for a query that ends before.
   * @throws Problem of the database, or not_found when the connection was deleted meanwhile
   */
  async answer(question: ConnectedQuestion, request: SelectRequest, onReading?: OnReading): Promise<ConnectedAnswer> {
    const { connections } = this.parts
    const found = await this.#found(streamId.parse(question.connection))
    if (request.repeats) throw notAsItWas(found.state.name)
    const connection = await this.#opened(found)
    if ('tables' in question) return { tables: await connections.tables(connection, question.soon) }
    if ('everyColumn' in question) return { everyColumn: await connections.everyColumn(connection, question.soon) }
    if ('columnsOf' in question)
      return { columns: await connections.columns(connection, question.columnsOf, question.schema, question.soon) }
    if ('described' in question) return { described: (await connections.described(connection, question.described, question.soon)) ?? null }
    this.#note(found, request)
    const { socket, ticket, ended, leave } = isWriting(question.open)
      ? await this.#once(request, JSON.stringify(question), () => connections.open(connection, question.open))
      : await connections.open(connection, question.open, limitsOf(request))
    onReading?.(ended, leave)
    if (this.#isRecorded(request, question.open, connection)) {
      const recording: Promise<void> = this.#record(connection, ended, request).catch((err: unknown) =>
        this.parts.logger.warn({ err, connection: connection.id }, 'what a connected database was asked could not be recorded'),
      )
      this.#recording.add(recording)
      void recording.then(() => this.#recording.delete(recording))
    }
    return { place: { socket, ticket }, ...(isSentToWrite(question.open, connection) && { changes: true }) }
  }

  /** The written descriptions of a table of a connection and of its columns. @throws Problem of the database */
  async comments({ stream }: Pick<Resource<'database'>, 'stream'>, table: string, schema?: string): Promise<TableComments> {
    return this.parts.connections.comments(await this.#byStream(stream), table, schema)
  }

  /** The connections whose rows a request has read so far, each once. */
  readFor(request: SelectRequest): readonly ConnectionRead[] {
    return [...(this.#read.get(request)?.values() ?? [])]
  }

  #note({ stream, version, state: { name } }: Resource<'database'>, request: SelectRequest): void {
    const read = this.#read.get(request) ?? new Map<StreamId, ConnectionRead>()
    this.#read.set(request, read.set(stream, { connection: stream, name, version }))
  }

  /** Resolves after every statement is recorded. */
  async recorded(): Promise<void> {
    await Promise.all(this.#recording)
  }

  /**
   * Sends a statement that writes. It refuses the statement if it was sent before and may have changed something: the query around it then
   * runs again, because its process was lost, or because a file changed to which it adds rows.
   */
  async #once(request: SelectRequest, statement: string, send: () => Promise<OpenAnswer>): Promise<OpenAnswer> {
    const key = request.statement ?? request
    const written = this.#written.get(key) ?? new Map<string, Promise<QueryEnd>>()
    this.#written.set(key, written)
    if ((await written.get(statement))?.changed === true)
      throw new Problem(
        'query_failed',
        'Not sent again',
        'The query has to run again after it sent a statement that writes, and that runs only once',
        {
          hint: 'See in the database what became of the statement before you send it again.',
        },
      )
    const opened = await send()
    written.set(statement, opened.ended)
    return opened
  }

  /** Whether a statement is recorded. The setting leaves out statements of analysts that only read. */
  #isRecorded({ purpose = 'query' }: SelectRequest, query: Query, connection: Connection): boolean {
    return purpose !== 'query' || this.parts.recordsAll || isSentToWrite(query, connection)
  }

  /** Records a statement to a database at the end of its answer, whatever the outcome. A statement that was never sent is not recorded. */
  async #record(
    { id, version }: Connection,
    ended: Promise<QueryEnd>,
    { purpose = 'query', origin = systemOrigin, user, training }: SelectRequest,
  ): Promise<void> {
    const { sent, rows, bytes, durationMs, ending } = await ended
    if (sent === undefined) return
    const data: DatabaseQueried = {
      ...{ connection: streamId.parse(id), version, purpose, rows, bytes },
      statement: recordable(await cutSecretsInTurns(sent)),
      duration_ms: Math.round(durationMs * 1_000) / 1_000,
      outcome: ending,
      user: user ?? null,
      training: training ?? null,
    }
    await this.parts.ledger.execute({ type: 'RecordQuery', data }, origin)
  }

  /** The tables of a connection; with `soon`, a failure comes soon. @throws Problem of the database */
  async tables(found: Resource<'database'>, soon = false): Promise<Tables> {
    return this.parts.connections.tables(await this.#opened(found), soon)
  }

  /** The columns of all tables of a connection; one that was slow is not asked again for a while. @throws Problem of the database */
  async everyColumn(found: Resource<'database'>): Promise<ListedColumns> {
    return this.parts.connections.everyColumn(await this.#opened(found), true)
  }

  /** Tries to open a connection that does not exist as a resource. */
  async check({ engine, parameters }: { engine: string; parameters: JsonObject }): Promise<ConnectionStatus> {
    if (!isConnected({ engine })) return { status: 'connection_error', detail: whyNotOpened(engine) }
    const id = randomUUID()
    const spoken = engineSpoken(engine, parameters)
    try {
      return await this.parts.connections.check({ id, version: 0, engine: spoken, parameters })
    } finally {
      this.parts.connections.forget(id)
    }
  }

  /** Tries to open an existing connection. */
  async checkSaved({ state }: Resource<'database'>): Promise<ConnectionStatus> {
    return this.check({ engine: state.engine, parameters: await this.#parametersOf(state) })
  }

  /** Tries to open a connection with its settings after a change. @throws Problem when a kept secret would go to another address */
  async checkChanged({ state }: Resource<'database'>, change: { engine?: string; parameters: JsonObject }): Promise<ConnectionStatus> {
    const merged = mergeParams(state.parameters, change.parameters)
    refuseMovedSecrets(state.parameters, merged)
    const parameters = await this.#parametersOf({ parameters: merged })
    return this.check({ engine: change.engine ?? state.engine, parameters })
  }

  async #byStream(stream: StreamId): Promise<Connection> {
    return this.#opened(await this.#found(stream))
  }

  async #found(stream: StreamId): Promise<Resource<'database'>> {
    const found = await this.parts.log.resources.byStream('database', stream)
    if (found) return found
    throw new Problem('not_found', 'Database not found', 'The connection was deleted', { hint: 'SHOW DATABASES lists the databases.' })
  }

  async #opened({ stream, version, state }: Resource<'database'>): Promise<Connection> {
    const parameters = await this.#parametersOf(state)
    return { id: stream, name: state.name, version, engine: engineSpoken(state.engine, parameters), parameters }
  }

  #parametersOf({ parameters }: Pick<Resource<'database'>['state'], 'parameters'>): Promise<JsonObject> {
    return openSecrets(parameters, (hash) => this.parts.log.payload(hash))
  }
}
