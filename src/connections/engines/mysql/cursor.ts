import type { Connection as Client } from 'mysql2'
import type { Socket } from 'node:net'
import { limits } from '../../../basics/limits.js'
import { notUnderstood, sendsTooMuch } from '../contract/explain.js'
import type { Field } from './types.js'

/** A step ends early where its rows are long, or have many columns: the driver makes an object of each value, also of an empty one. */
const [stepBytes, stepValues] = [1024 * 1024, 128 * 1024]

/** The most packets other than rows between two rows; an answer has at most 4,096 columns. The driver keeps a part of each of them. */
const packetsMax = 5_000
/** Answers to one statement: a procedure has several. */
const answersMax = 1_000

export type ByteRow = readonly (Buffer | null)[]

/** A packet of the driver: how far it was read, and where it ends. */
type Packet = { offset: number; end: number }

/** The part of the driver that gets each packet of a statement; at its start none. */
type Command = { execute: (packet: Packet | undefined, connection: unknown) => boolean }

/** Ends a connection at once; its `destroy` would wait for pending data. */
const lose = (client: Client): void => void (Reflect.get(client, 'stream') as Socket).destroy()

/** Reads the rows of one statement as they arrive; it does not read the socket until the caller wants more rows. */
export class Reader {
  fields: readonly Field[] = []
  isOver = false
  #rows: ByteRow[] = []
  #bytes = 0
  #values = 0
  #failure: { reason: Error } | undefined
  #waiting: { most: number; resolve: () => void } | undefined
  #packetsLeft = packetsMax
  #rowsRead = 0
  #answers = 0
  readonly #ended: Promise<void>

  constructor(
    private readonly client: Client,
    sql: string,
  ) {
    let isFirst = true
    this.#ended = new Promise((resolve) => {
      const end = (error?: Error) => {
        client.off('error', end)
        if (error) this.#failure ??= { reason: error }
        else this.isOver = true
        this.#wake()
        resolve()
      }
      // The driver reports the loss of a connection to the connection object, and not to its statement.
      client.on('error', end)
      const query = client.query({ sql, rowsAsArray: true, typeCast: false })
      this.#checkPackets(query as unknown as Command)
      query.on('fields', (fields: unknown) => {
        if (++this.#answers > answersMax) this.#flood(`more than ${answersMax} answers to one statement`)
        // A procedure has several answers; the first is the answer.
        if (isFirst && Array.isArray(fields)) this.fields = fields as Field[]
        isFirst = false
      })
      query.on('result', (row: unknown, index: unknown) => {
        if (Array.isArray(row)) {
          this.#packetsLeft = packetsMax
          this.#rowsRead += 1
        }
        if (Array.isArray(row) && (index === 0 || index === undefined)) this.#take(row as ByteRow)
      })
      query.on('error', end)
      query.on('end', () => end())
    })
  }

  /** The rows that have arrived; at least one, unless the answer is over. */
  async read(most: number): Promise<{ rows: readonly ByteRow[]; bytes: number }> {
    if (!this.#hasEnough(most) && !this.isOver && !this.#failure) {
      const waiting = new Promise<void>((resolve) => (this.#waiting = { most, resolve }))
      this.client.resume()
      await waiting
    }
    if (this.#failure) throw this.#failure.reason
    const [rows, bytes] = [this.#rows, this.#bytes]
    this.#rows = []
    this.#bytes = 0
    this.#values = 0
    return { rows, bytes }
  }

  /** Resolves when the statement has ended in the database; later rows are dropped. */
  async drained(): Promise<void> {
    this.#waiting = { most: Infinity, resolve: () => undefined }
    this.client.resume()
    await this.#ended
  }

  /**
   * Ignores all packets after too many packets that are not rows, and after a row that does not end with its packet: the driver reads values
   * from the bytes behind it, or leaves a part of them.
   */
  #checkPackets(command: Command): void {
    const execute = command.execute.bind(command)
    command.execute = (packet, connection) => {
      this.#packetsLeft -= 1
      if (this.#packetsLeft === 0) this.#flood(`${packetsMax} packets that are not rows`)
      if (this.#packetsLeft <= 0 || this.#failure) return false
      const before = this.#rowsRead
      const isOver = execute(packet, connection)
      if (packet && this.#rowsRead > before && packet.offset !== packet.end) this.#lose(notUnderstood())
      return isOver
    }
  }

  #hasEnough(most: number): boolean {
    return this.#rows.length >= most || this.#bytes >= stepBytes || this.#values >= stepValues
  }

  #flood(what: string): void {
    this.#lose(sendsTooMuch(what))
  }

  /** The end of the connection wakes the callers that wait. */
  #lose(reason: Error): void {
    this.#failure ??= { reason }
    lose(this.client)
  }

  #take(row: ByteRow): void {
    const waiting = this.#waiting
    if (waiting?.most === Infinity) return
    this.#rows.push(row)
    this.#values += row.length
    // An empty text takes a byte as well.
    for (const value of row) this.#bytes += Math.max(value?.length ?? 1, 1)
    if (waiting && !this.#hasEnough(waiting.most)) return
    this.client.pause()
    this.#wake()
  }

  #wake(): void {
    this.#waiting?.resolve()
    this.#waiting = undefined
  }
}

/**
 * Runs a statement of this service, and returns its rows.
 *
 * @throws Problem query_limit for more rows than any list of this service has; Error of the driver
 */
export const run = async (client: Client, sql: string): Promise<ByteRow[]> => {
  const most = limits.connectionColumnsMax + 1
  const reader = new Reader(client, sql)
  const found: ByteRow[] = []
  while (!reader.isOver) {
    const { rows } = await reader.read(most)
    for (const row of rows) found.push(row)
    if (found.length <= most) continue
    lose(client)
    throw sendsTooMuch(`more than ${most} rows`)
  }
  return found
}
