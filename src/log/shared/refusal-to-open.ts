import pg from 'pg'
import { ConfigError } from '../../setup/config.js'
import { addressesIn, placeIn } from '../../setup/postgres-url.js'
import { BlockingEventError } from '../sqlite/blocking-event-error.js'
import { ForkError } from './sequencer.js'
import { UnreachableError } from './postgres/shared-log-session.js'

/** Where PostgreSQL is, without the user and the password. @example placeOf('postgres://me:secret@a,b/ledger') // 'a/ledger or b/ledger' */
export const placeOf = (url: string): string => addressesIn(url).map(placeIn).join(' or ')

/** The error for an operator when the log could not be opened. */
export const refusalToOpen = (error: unknown, url: string): unknown => {
  if (error instanceof UnreachableError || error instanceof pg.DatabaseError)
    return new ConfigError(`LOG_URL: the shared log at ${placeOf(url)} cannot be opened: ${error.message}`)
  if (error instanceof BlockingEventError) return error.endingStart('start this node with')
  if (error instanceof ForkError || error instanceof RangeError)
    return new ConfigError(
      `${error.message}: the data directory has events that the shared log lacks. "mindledger reappend" brings them back. Or keep this directory, and set DATA_DIR to an empty one that follows.`,
    )
  return error
}
