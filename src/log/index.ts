/** Room: the log as a library for others. It imports only basics, setup, vault, log/contract, log/sqlite and log/emmett. */

/**
 * The log for programs beside the service, in emmett's terms: an `EventStore` for your own events, reading by position, and
 * processors that follow the log. docs/use/embedding.md has examples. Its layer is above the log's other folders and below commands.
 */
import type { Event } from '@event-driven-io/emmett'
import { opened } from '../basics/undo.js'
import { lockDataDirectory, prepareDataDirectory } from '../setup/data-directory.js'
import { masterKeys } from '../vault/key-files.js'
import { Vault } from '../vault/vault.js'
import type { Log } from './contract/log.js'
import { systemOrigin } from './contract/origins.js'
import { eventStore, type LogEventStore } from './emmett/event-store.js'
import { startProcessor, type Processing, type Processor } from './emmett/processor.js'
import { recordedLog, type ReadAllOptions, type RecordedEvent } from './emmett/recorded-event.js'
import { SqliteLog } from './sqlite/sqlite-log.js'

export { isProblem } from '../basics/errors.js'
export type { LogEventStore, Processing, Processor, ReadAllOptions, RecordedEvent }
export type { LogMetadata } from './emmett/recorded-event.js'

/** The writer: the `actor` of each event. */
export type Writer = { actor: string }

/** A log in emmett's terms. */
export type EmmettLog = {
  /** Identifies this log among others. */
  readonly id: string
  readonly eventStore: LogEventStore
  /** The position of the newest event; 0 when there is none. */
  head(): Promise<bigint>
  /** Events in the order of the log, up to its current head, including those of the service. */
  readAll<E extends Event = Event>(options?: ReadAllOptions<E>): AsyncGenerator<RecordedEvent<E>, void, void>
  /** Starts a processor, which follows the log until it is stopped. */
  process<E extends Event = Event>(processor: Processor<E>): Processing
}

/**
 * An open log in emmett's terms, such as that of a service in the same process.
 *
 * @example emmettLog(service.log, { actor: 'billing' }).eventStore
 */
export const emmettLog = (log: Log, { actor }: Writer): EmmettLog => ({
  id: log.id,
  eventStore: eventStore(log, { ...systemOrigin, actor }),
  head: async () => BigInt((await log.head()).position),
  readAll: (options) => recordedLog(log, options),
  process: (processor) => startProcessor(log, processor),
})

/** Master keys of 32 bytes, the one in use first; by default those in the files of the directory. */
type OpenOptions = Writer & { masterKeys?: readonly Buffer[] }

/**
 * Opens the log of a data directory, which is created if there is none. While it is open, no service and no other program can open
 * it. `close` stops its processors and releases it.
 *
 * @example
 * const log = await openLog('./data', { actor: 'billing' })
 * await log.eventStore.appendToStream('invoice-7', [{ type: 'InvoiceIssued', data: { amount: 10 } }])
 * await log.close()
 * @throws ConfigError when another process has the directory, or it cannot be used
 */
export const openLog = async (dataDirectory: string, options: OpenOptions): Promise<EmmettLog & { close: () => Promise<void> }> => {
  const { stop, ...open } = await opened((undo) => {
    const paths = prepareDataDirectory(dataDirectory)
    undo(lockDataDirectory(paths))
    const log = new SqliteLog({ file: paths.log, vault: new Vault(...masterKeys(paths, options.masterKeys)) })
    undo(() => log.close())
    const read = emmettLog(log, options)
    const process: EmmettLog['process'] = (processor) => {
      const processing = read.process(processor)
      undo(() => processing.stop())
      return processing
    }
    return { ...read, process }
  })
  return { ...open, close: stop }
}
