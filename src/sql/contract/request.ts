import type { LastValue } from '../../../events/job.js'
import type { QueryPurpose } from '../../../events/records/queries.js'
import type { Execution } from '../../commands/ledger.js'
import type { Origin } from '../../log/contract/log.js'
import type { RowFormat } from '../encode/chunks.js'
import type { Parameters } from '../statements/statement.js'
import type { SqlContext } from './answer.js'
import type { AsOf } from './as-of.js'

/** What LAST stands for in a statement of a job, in the order in which it is written; `note` is told what it stands for in the next run. */
export type LastValues = { known: readonly LastValue[]; note: (seen: readonly LastValue[]) => void }

/**
 * A statement as it was sent: `db` is where names are looked up, the default project when none is given; with `asOf` it reads the
 * past, and may only read; `format` is how rows are wanted, which answers of a few rows do not keep to: theirs are always JSON.
 * What of it crosses to the process that answers SELECTs is a `SelectRequest`.
 */
export type SqlRequest = {
  query: string
  db?: string | undefined
  asOf?: AsOf | undefined
  params?: Parameters | undefined
  format?: RowFormat | undefined
  /** A path where the rows of a SELECT are written as Parquet instead; whoever names it removes the file. Other statements answer as ever. */
  into?: string | undefined
  origin: Origin
  /** The client whose turn and share of places it takes; the service's own queries need none. */
  client?: string | undefined
  execution?: Execution
  /** Whether a statement that writes is refused, also one in the language of a connected database. */
  readsOnly?: boolean
  /** Why connected databases are asked, where it is not for whoever sent the statement: for a skill they only read, and it is always on record. */
  purpose?: QueryPurpose | undefined
  /** Only a job remembers the values that it has seen. */
  last?: LastValues
  signal?: AbortSignal
}

/** A statement that is being answered; `position` is the one that its `asOf` names. */
export type RunningStatement = SqlRequest & { context: SqlContext; position?: number }
