import type pg from 'pg'
import type { Field } from './cursor.js'
import { run } from './run.js'

/** The messages of the protocol that ask what a statement would answer. */
type ServerConnection = {
  parse: (statement: { name: string; text: string; types: readonly number[] }) => void
  describe: (statement: { type: 'S'; name: string }) => void
  sync: () => void
}

type RowDescription = { fields: readonly { name: string; dataTypeID: number; dataTypeModifier: number }[] }

/** A request for the columns of a statement, in the form that the driver queues. */
class Description {
  #fields: readonly Field[] = []

  constructor(
    private readonly text: string,
    private readonly resolve: (fields: readonly Field[]) => void,
    private readonly reject: (error: Error) => void,
  ) {}

  submit(connection: ServerConnection): void {
    connection.parse({ name: '', text: this.text, types: [] })
    connection.describe({ type: 'S', name: '' })
    connection.sync()
  }

  handleRowDescription({ fields }: RowDescription): void {
    this.#fields = fields.map(({ name, dataTypeID, dataTypeModifier }) => ({ name, oid: dataTypeID, typmod: dataTypeModifier }))
  }

  handleError(error: Error): void {
    this.reject(error)
  }

  handleReadyForQuery(): void {
    this.resolve(this.#fields)
  }
}

/**
 * The columns of a statement, which the server reads but does not run. `begin` begins the transaction in which it would run: the names that
 * it finds depend on that.
 *
 * @example await describe(client, 'SELECT 1 AS n', 'BEGIN READ ONLY') // [{ name: 'n', oid: 23, typmod: -1 }]
 * @throws Error of the driver
 */
export const describe = async (client: pg.Client, text: string, begin: string): Promise<readonly Field[]> => {
  try {
    await run(client, begin)
    return await new Promise((resolve, reject) => {
      client.query(new Description(text, resolve, reject) as unknown as pg.Submittable)
    })
  } finally {
    await run(client, 'ROLLBACK').catch(() => undefined)
  }
}
