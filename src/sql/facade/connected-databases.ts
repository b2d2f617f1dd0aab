import { randomUUID } from 'node:crypto'
import { streamId, type JsonObject, type StreamId } from '../../../events/common.js'
import { whyNotOpened } from '../../catalogue/connection-engines.js'
import { mergeParams } from '../../commands/rules/params.js'
import { Problem } from '../../basics/errors.js'
import type { Checked, Connections } from '../../connections/connections.js'
import type { Connection, Tables } from '../../connections/contract/requests.js'
import type { Found, Log } from '../../log/contract/log.js'
import { openSecrets } from '../../vault/secrets.js'
import type { Question, Told } from '../contract/connected.js'
import { isConnected } from '../engine/resolve/connections.js'

type Parts = { log: Log; connections: Connections }

/** The connected databases by what the log says of them. Secrets are opened here, and go to the process of the drivers only. */
export class ConnectedDatabases {
  constructor(private readonly parts: Parts) {}

  /** Answers what a query asks. @throws Problem of the database, or not_found when the connection was deleted meanwhile */
  async answer(question: Question): Promise<Told> {
    const { connections } = this.parts
    const connection = await this.#byStream(streamId.parse(question.connection))
    if ('tables' in question) return { tables: await connections.tables(connection) }
    if ('columnsOf' in question) return { columns: await connections.columns(connection, question.columnsOf, question.schema) }
    const { socket, ticket } = await connections.open(connection, question.open)
    return { place: { socket, ticket } }
  }

  /** The tables of a connection. @throws Problem of the database */
  async tables(found: Found<'database'>): Promise<Tables> {
    return this.parts.connections.tables(await this.#opened(found))
  }

  /** Tries to open a connection that nobody has created. */
  async check({ engine, parameters }: { engine: string; parameters: JsonObject }): Promise<Checked> {
    if (!isConnected({ engine })) return { status: 'connection_error', detail: whyNotOpened(engine) }
    const id = randomUUID()
    try {
      return await this.parts.connections.check({ id, version: 0, engine, parameters })
    } finally {
      this.parts.connections.forget(id)
    }
  }

  /** Tries to open a connection as it is. */
  async checkSaved({ state }: Found<'database'>): Promise<Checked> {
    return this.check({ engine: state.engine, parameters: await this.#parametersOf(state) })
  }

  /** Tries to open a connection as it would be after a change. */
  async checkChanged({ state }: Found<'database'>, change: { engine?: string; parameters: JsonObject }): Promise<Checked> {
    const parameters = await this.#parametersOf({ parameters: mergeParams(state.parameters, change.parameters) })
    return this.check({ engine: change.engine ?? state.engine, parameters })
  }

  async #byStream(stream: StreamId): Promise<Connection> {
    const found = await this.parts.log.resources.byStream('database', stream)
    if (found) return this.#opened(found)
    throw new Problem('not_found', 'Database not found', 'The connection was deleted', { hint: 'SHOW DATABASES lists what there is.' })
  }

  async #opened({ stream, version, state }: Found<'database'>): Promise<Connection> {
    return { id: stream, version, engine: state.engine, parameters: await this.#parametersOf(state) }
  }

  #parametersOf({ parameters }: Pick<Found<'database'>['state'], 'parameters'>): Promise<JsonObject> {
    return openSecrets(parameters, (hash) => this.parts.log.payload(hash))
  }
}
