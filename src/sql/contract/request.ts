import type { Execution } from '../../commands/ledger.js'
import type { Origin } from '../../log/contract/log.js'
import type { SqlContext } from './answer.js'
import type { AsOf } from './as-of.js'
import type { RowFormat } from '../encode/chunks.js'
import type { Parameters } from '../statements/statement.js'

/**
 * A statement as it was sent: `db` is where names are looked up, the default project when none is given; with `asOf` it reads the
 * past, and may only read; `format` is how rows are wanted, which answers of a few rows do not keep to: theirs are always JSON.
 */
export type SqlRequest = {
  query: string
  db?: string | undefined
  asOf?: AsOf | undefined
  params?: Parameters | undefined
  format?: RowFormat | undefined
  origin: Origin
  /** Whose turn it takes and whose share of the places: clients' are told apart, the service's own queries need none. */
  client?: string | undefined
  execution?: Execution
  signal?: AbortSignal
}

/** A statement under way; `position` is the one that its `asOf` names. */
export type StatementSession = SqlRequest & { context: SqlContext; position?: number }
