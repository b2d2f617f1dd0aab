/**
 * Room: the interface between a kind of connected database and the driver process. It imports only events, basics, egress,
 * connections/contract, connections/batch and connections/pushdown.
 */

import type { EgressPolicy } from '../../../egress/policy.js'
import type { Connection, ListedColumns, Query, TableColumn, TableComments, Tables } from '../../contract/requests.js'
import type { AnswerColumn } from '../../contract/types.js'
import type { Rows } from '../../batch/column-reading.js'

/** The environment of engines. */
export type Surroundings = {
  policy: EgressPolicy
  /** The folder whose files may be read. */
  files: string | undefined
  /** The folder of this process for spilled data. */
  scratch: string
}

/** The answer to a statement under way. */
export type Cursor = {
  columns: readonly AnswerColumn[]
  /** The text that the database got. */
  sent: string
  /** The next rows, at most about `most`; `undefined` after the last ones. At most one step is read ahead. */
  next: (most: number) => Promise<Rows | undefined>
  /** Whether the statement may write: then it is read to its end. */
  mayWrite?: boolean
  /** Whether the statement may have changed something permanently; known only after its last rows. */
  hasChanged?: () => boolean
  /** Ends the statement in the database, and waits for that. Returns whether the session can be used again. */
  close: () => Promise<boolean>
}

/** A connection to a database, for one statement at a time. */
export type DatabaseSession = {
  /** Whether it has been lost. */
  readonly isLost: boolean
  /**
   * Whether a statement changes nothing permanently before its last row is read. Some databases commit certain statements by themselves.
   */
  readonly isAtomic: boolean
  /** Bytes that the database has sent so far. */
  readonly received: number
  check: () => Promise<void>
  tables: () => Promise<Tables>
  columns: (table: string, schema: string | undefined) => Promise<readonly TableColumn[]>
  /** The comments on a table, if the database has comments that can be read. */
  comments?: (table: string, schema: string | undefined) => Promise<TableComments>
  /** The columns of all tables, without asking for each. */
  everyColumn: () => Promise<ListedColumns>
  /**
   * The columns of a statement of the database's own that only reads, without running it; undefined if its rows must be seen to know their
   * types.
   */
  describe?: (native: string) => Promise<readonly AnswerColumn[] | undefined>
  /** Sends a statement, and reads its first rows. `onSend` gets its text for the record right before the database gets it. */
  open: (query: Query, onSend: (statement: string) => void) => Promise<Cursor>
  /** Asks the database over another connection to stop the statement of this session. Resolves when the request has been sent. */
  cancel: () => Promise<void>
  /** Closes it at once. */
  destroy: () => void
}

/** One kind of database. */
export type DatabaseEngine = {
  /** Opens a session within the connect timeout. */
  connect: (connection: Connection, around: Surroundings) => Promise<DatabaseSession>
}
