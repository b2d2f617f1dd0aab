import type { LastValue } from '../../../events/job.js'
import type { QueryPurpose } from '../../../events/records/queries.js'
import type { Execution } from '../../commands/ledger.js'
import type { Origin } from '../../log/contract/log.js'
import type { RowFormat } from '../encode/chunks.js'
import type { Parameters } from '../statements/statement.js'
import type { SqlContext } from './answer.js'
import type { AsOf } from './as-of.js'

/**
 * The values of LAST in a statement of a job, in the order of the text; `note` gets the values for the next run. With `wantsBase` the
 * statement does not run, and `note` gets the highest values now.
 */
export type LastValues = { known: readonly LastValue[]; note: (seen: readonly LastValue[]) => void; wantsBase?: true }

/**
 * A statement in its original form. `db` is the database for names, by default the default project. With `asOf` the statement reads the
 * past, and may only read. `format` is the requested format of rows; answers of a few rows ignore it and are always JSON. The process that
 * answers SELECTs gets a `SelectRequest`.
 */
export type SqlRequest = {
  query: string
  db?: string | undefined
  /** Whether the statement is in the language of the connected database `db`. */
  isNative?: boolean
  asOf?: AsOf | undefined
  params?: Parameters | undefined
  format?: RowFormat | undefined
  /** A path for the rows of a SELECT, which are then written as Parquet. The caller removes the file. Other statements ignore this. */
  into?: string | undefined
  origin: Origin
  /** The client whose turn and share of places the statement takes; the service's own queries need none. */
  client?: string | undefined
  execution?: Execution
  /** Whether a writing statement is refused, including one in the language of a connected database. */
  readsOnly?: boolean
  /** The purpose of queries to connected databases, if it is not the sender's. For a skill they may only read, and are always recorded. */
  purpose?: QueryPurpose | undefined
  /** Only a job keeps the values that it has seen. */
  last?: LastValues
  /** The same for each try of one statement, so that what it writes in a connected database is sent once. */
  statement?: symbol
  signal?: AbortSignal
}

/** A statement during its answer; `position` is the position that its `asOf` names. */
export type RunningStatement = SqlRequest & { context: SqlContext; position?: number }
