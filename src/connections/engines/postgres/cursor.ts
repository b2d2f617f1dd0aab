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

/** The driver's cursor. It never copies a file from or to this machine. */
class RowCursor extends PgCursor<TextRow> {
  handleCopyInResponse(connection: ServerConnection): void {
    connection.sendCopyFail('nothing is copied')
  }

  handleCopyData(): void {
    // The copied data is not read.
  }
}

/** Reads the rows of one statement step by step; PostgreSQL computes only the requested rows. */
export class Reader {
  readonly #cursor: RowCursor
  #fields: readonly Field[] = []
  #isOver = false
  #reading: Promise<unknown> = Promise.resolve()
  /** The number of rows that may arrive until the next request. */
  #room = 0
  #isFlooded = false

  /** @param lose ends the session of a server that sends far more rows than requested */
  constructor(client: pg.Client, sql: string, values: readonly string[], lose: () => void) {
    this.#cursor = client.query(new RowCursor(sql, [...values], { rowMode: 'array' }))
    this.#cursor.on('row', () => {
      this.#room -= 1
      if (this.#room >= 0 || this.#isFlooded) return
      this.#isFlooded = true
      lose()
    })
  }

  /** Known with the first rows. */
  get fields(): readonly Field[] {
    return this.#fields
  }

  get isOver(): boolean {
    return this.#isOver
  }

  read(most: number): Promise<TextRow[]> {
    this.#room = most + unaskedMaxRows
    const reading = new Promise<TextRow[]>((resolve, reject) => {
      // The driver reports a lost connection twice, as a call and as an event.
      this.#cursor.read(most, (error: Error | undefined, rows, result) => {
        if (error) {
          reject(this.#isFlooded ? unasked() : error)
          return
        }
        this.#fields = result.fields.map(({ name, dataTypeID, dataTypeModifier }) => ({ name, oid: dataTypeID, typmod: dataTypeModifier }))
        if (rows.length < most) this.#isOver = true
        resolve(rows)
      })
    })
    this.#reading = reading.catch(() => undefined)
    return reading
  }

  /** Resolves when no rows are on their way any more. */
  async settled(): Promise<void> {
    await this.#reading
  }

  /** Ends the statement. Its transaction is not ended. */
  async close(): Promise<void> {
    await new Promise<void>((resolve) => this.#cursor.close(() => resolve()))
  }
}
