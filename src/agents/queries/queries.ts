/** Room: the bounded queries of agents. It imports only events, basics, log/contract, sql and models/serving. */

import type { Json } from '../../../events/common.js'
import { limits } from '../../basics/limits.js'
import type { Log, Origin } from '../../log/contract/log.js'
import type { PredictionRecorder } from '../../models/serving/prediction-recorder.js'
import { rowsIn, type Column } from '../../sql/contract/answer.js'
import { retryWhileUnavailable } from '../../sql/contract/retry-while-unavailable.js'
import type { SelectService, TablePath } from '../../sql/contract/select.js'
import { answerSelect } from '../../sql/facade/answer-select.js'

/** A query and its bounds. Names without a database are looked up in `db`; only the tables in `only` may be named. */
export type BoundQuery = { sql: string; db: string; only: readonly TablePath[]; maxRows: number; timeoutMs: number }

/** `cut` says that there are more rows. */
export type QueryRows = { columns: readonly Column[]; rows: Json[][]; cut: boolean }

type QueryParts = {
  log: Pick<Log, 'now'>
  sqlProcess: SelectService
  recorder: PredictionRecorder
  defaultProject: string
}

/** The client for which the queries run, the answer that they belong to, if there is one, and the position at which they read. */
export type QueryPlace = {
  origin: Origin
  client: string | undefined
  answer?: string | undefined
  head: number
  position: number
  signal: AbortSignal
}

/** Runs the queries of one answer: all at one position of the log, each within its bounds. */
export class Queries {
  constructor(
    private readonly parts: QueryParts,
    private readonly place: QueryPlace,
  ) {}

  /**
   * The first rows of a query. While the SQL process starts or is busy, this waits as long as the query itself may take.
   *
   * @throws Problem of the query; the reason of the signal
   */
  async run({ sql, db, only, maxRows, timeoutMs }: BoundQuery): Promise<QueryRows> {
    const { origin, client, answer: of, head, position, signal } = this.place
    const select = { sql, only, maxRows: maxRows + 1, timeoutMs, purpose: 'skill', ...(of !== undefined && { answer: of }) } as const
    const running = { query: sql, origin, client, signal, context: { db, show_secrets: false }, position } as const
    const parts = { ...this.parts, log: { head: async () => ({ position: head }), now: () => this.parts.log.now() } }
    // If the rows break off, the query does not run again: it may have ended the process.
    const answer = await retryWhileUnavailable(() => answerSelect(select, running, parts), signal, timeoutMs)
    if (answer.type !== 'table') throw new TypeError('a SELECT answers a table')
    const rows: Json[][] = []
    let bytes = 0
    for await (const chunk of answer.rows) {
      const some = rowsIn(chunk)
      for (const row of some) {
        bytes += some.length === 1 ? chunk.length : JSON.stringify(row).length
        if (rows.length >= maxRows || (bytes > limits.agentQueryMaxBytes && rows.length > 0))
          return { columns: answer.columns, rows, cut: true }
        rows.push(row)
      }
    }
    return { columns: answer.columns, rows, cut: false }
  }
}
