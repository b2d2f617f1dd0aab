/** A SELECT as the analytics process gets it: the statement, where its names are looked up, and what it may see. */
export type SelectRequest = {
  sql: string
  db: string
  defaultProject: string
  /** The position that the tables must have reached: the head of the log when the query arrived. */
  upTo: number
  /** The position or time that the query looks at, when it is not now. */
  asOf?: number | string
  params?: unknown
  timeoutMs?: number
}

export type Column = { name: string; type: string }

/** What a query did: the rows it gave, and the model versions that scored for it. */
export type QueryEnd = { rows: number; scored: { model: string; version: number; rows: number }[] }

/** One piece of an answer: the columns first, then rows as comma-joined JSON arrays without a raw newline, then the end. */
export type Frame = { columns: Column[]; served?: unknown } | { rows: string } | { end: QueryEnd }

/** An answer as the server's other parts read it. `rows` has to be read to its end or returned; `end` is there after that. */
export type QueryStream = { columns: Column[]; served?: unknown; rows: AsyncGenerator<string, void, void>; end: () => QueryEnd }
