import type { Duplex } from 'node:stream'
import type pg from 'pg'

/** The part of the driver that reads what the server sends; with TLS it gets another stream after the first one. */
type Reading = { attachListeners: (stream: Duplex) => void }

/**
 * Lets the driver's exceptions about what the server sends fail the login or the statement at once. The driver throws them where nobody
 * catches them, and whoever waits for the server would wait until the time is over.
 *
 * @param lose ends the connection, whose other messages nobody can read any more
 */
export const reportExceptions = ({ connection }: pg.Client, lose: () => void): void => {
  const reading = connection as unknown as Reading
  const attach = reading.attachListeners.bind(connection)
  reading.attachListeners = (stream) => {
    const emit = stream.emit.bind(stream) as (event: string | symbol, ...values: unknown[]) => boolean
    stream.emit = (event: string | symbol, ...values: unknown[]): boolean => {
      if (event !== 'data') return emit(event, ...values)
      try {
        return emit(event, ...values)
      } catch (error) {
        connection.emit('error', error)
        lose()
        return true
      }
    }
    attach(stream)
  }
}
