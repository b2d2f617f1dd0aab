import type { Duplex } from 'node:stream'
import type pg from 'pg'
import PgCursor from 'pg-cursor'
import { Problem } from '../../../basics/errors.js'

export type TextRow = (string | null)[]

/** The description of a column in an answer. */
export type Field = { name: string; oid: number; typmod: number }

/** The number of rows that a server may send beyond the requested ones. A server that sends more ignores the limit. */
const unaskedMaxRows = 16_384

const unasked = (): Problem =>
  new Problem('query_limit', 'The database sends too much', `The database sent ${unaskedMaxRows} rows more than it was asked for`, {
    hint: 'It ignores the requested number of rows: write a LIMIT into the statement.',
  })

type ServerConnection = { sendCopyFail: (message: string) => void }

/** The part of the driver's result that is read here. */
type Result = { fields: readonly { name: string; dataTypeID: number; dataTypeModifier: number }[] }

/** Why no file is copied. A server repeats this in its own words. */
export const copyRefusal = 'nothing is copied'

/** The driver's cursor. It keeps no rows, and never copies a file from or to this machine. */
class RowCursor extends PgCursor<TextRow> {
  handleDataRow({ fields }: { fields: readonly unknown[] }): void {
    const result = Reflect.get(this, '_result') as Result & { parseRow: (fields: readonly unknown[]) => TextRow }
    this.emit('row', result.parseRow(fields), result)
  }

  handleCopyInResponse(connection: ServerConnection): void {
    connection.sendCopyFail(copyRefusal)
  }

  handleCopyData(): void {
    // The copied data is not read.
  }
}

/** The bytes of a step; it ends early where its rows are long. */
export const stepBytes = 1024 * 1024

const bytesOf = (row: TextRow): number => row.reduce((sum, value) => sum + (value?.length ?? 1), 0)

/**
 * Reads the rows of one statement step by step. PostgreSQL computes only the requested rows. A step of long rows ends before all of them have
 * come, and the socket is not read until the caller wants more.
 */
export class Reader {
  readonly #cursor: RowCursor
  readonly #stream: Duplex
  readonly #lose: () => void
  #fields: readonly Field[] = []
  #isOver = false
  #failure: { reason: Error } | undefined
  #rows: TextRow[] = []
  #bytes = 0
  /** The request under way; `rest` of its rows have not come yet. */
  #request: { rest: number; ended: Promise<void> } | undefined
  #waiting: { most: number; resolve: () => void } | undefined

  /** @param lose ends the session of a server that sends far more rows than requested */
  constructor(client: pg.Client, sql: string, values: readonly string[], lose: () => void) {
    this.#stream = client.connection.stream
    this.#lose = lose
    this.#cursor = client.query(new RowCursor(sql, [...values], { rowMode: 'array' }))
    this.#cursor.on('row', (row, result) => this.#take(row as TextRow, result as Result))
  }

  /** Known with the first rows. */
  get fields(): readonly Field[] {
    return this.#fields
  }

  get isOver(): boolean {
    return this.#isOver && this.#rows.length === 0
  }

  /** The next rows: at least one, unless the answer is over, and fewer than `most` if they are long. */
  async read(most: number): Promise<TextRow[]> {
    if (!this.#hasEnough(most) && !this.#isOver && !this.#failure)
      await new Promise<void>((resolve) => {
        this.#waiting = { most, resolve }
        if (this.#request) this.#stream.resume()
        else this.#ask(most - this.#rows.length)
      })
    if (this.#failure) throw this.#failure.reason
    const rows = this.#rows.splice(0, most)
    this.#bytes = this.#rows.reduce((sum, row) => sum + bytesOf(row), 0)
    return rows
  }

  /** Resolves when no rows are on their way any more. Rows that still come are dropped, and a caller that waits for some gets an error. */
  async settled(): Promise<void> {
    // Without an error it would take this end for that of the answer, and commit.
    this.#fail(new Error('the statement was closed'))
    this.#stream.resume()
    await this.#request?.ended
  }

  /** Ends the statement. Its transaction is not ended. */
  async close(): Promise<void> {
    await this.settled()
    await new Promise<void>((resolve) => this.#cursor.close(() => resolve()))
  }

  #hasEnough(most: number): boolean {
    return this.#rows.length >= most || this.#bytes >= stepBytes
  }

  #ask(most: number): void {
    const ended = new Promise<void>((resolve) => {
      // The driver reports a lost connection twice, as a call and as an event.
      this.#cursor.read(most, (error: Error | undefined, _rows, result: Result | undefined) => {
        const { rest = 0 } = this.#request ?? {}
        this.#request = undefined
        if (error) this.#fail(error)
        else this.#end(rest, result)
        // What comes now is no row. Whoever uses the session next has to hear it.
        this.#stream.resume()
        resolve()
      })
    })
    this.#request = { rest: most, ended }
  }

  /** The end of a request. A server that gives fewer rows than requested has no more of them. */
  #end(rest: number, result: Result | undefined): void {
    if (result) this.#know(result)
    if (rest > 0 || !result) this.#isOver = true
    const waiting = this.#waiting
    if (waiting && this.#rows.length === 0 && !this.#isOver) this.#ask(waiting.most)
    else this.#wake()
  }

  #take(row: TextRow, result: Result): void {
    if (this.#request && --this.#request.rest === -unaskedMaxRows) {
      this.#fail(unasked())
      this.#lose()
    }
    if (this.#failure) return
    this.#know(result)
    this.#rows.push(row)
    this.#bytes += bytesOf(row)
    if (this.#waiting && !this.#hasEnough(this.#waiting.most)) return
    this.#stream.pause()
    this.#wake()
  }

  #know({ fields }: Result): void {
    if (this.#fields.length > 0) return
    this.#fields = fields.map(({ name, dataTypeID, dataTypeModifier }) => ({ name, oid: dataTypeID, typmod: dataTypeModifier }))
  }

  #fail(reason: Error): void {
    this.#failure ??= { reason }
    this.#wake()
  }

  #wake(): void {
    this.#waiting?.resolve()
    this.#waiting = undefined
  }
}
