import { errorText } from '../../basics/errors.js'
import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DuckDBInstance } from '@duckdb/node-api'
import { ForeignTablesError } from '../../../projections/problem.js'
import { ignoreUserSignals } from '../../basics/user-signals.js'
import { dataPaths } from '../../setup/data-directory.js'
import { confinement } from '../contract/confinement.js'
import { copyTables, openStore, type Store, type TablesLog } from './store.js'
import {
  isPing,
  parseCopyRequest,
  parseKeys,
  parseSettings,
  type ChildMessage,
  type CopyRequest,
  type Settings,
} from '../contract/messages.js'
import { Projector } from './projector.js'
import { createQueryServer, type RunServices } from './query-server.js'
import type { Frame, SelectRequest } from '../../sql/contract/select.js'
import type { TablesStatus } from '../../sql/relations/projections.js'
import { countRebuild } from '../contract/rebuilds.js'

export type Services = RunServices & { blobsDirectory: string; asksForBlobs: boolean }

/** Answers one SELECT, on a connection of its own. Soon after its signal aborts, it has ended and released everything. */
export type RunSelect = (database: { instance: DuckDBInstance }, request: SelectRequest, services: Services) => AsyncIterable<Frame>

/** The log for this process: the master keys may change meanwhile. */
export type FollowedLog = TablesLog & { useKeys: (keys: readonly Buffer[]) => void }

export type ServeOptions = {
  openLog: (dataDirectory: string, masterKeys: readonly Buffer[]) => FollowedLog
  run: RunSelect
}

// A lost message does no harm: without a parent this process ends.
const tell = (message: ChildMessage, sent: () => void = () => undefined): void => {
  if (process.connected) process.send?.(message, undefined, undefined, sent)
}

/**
 * After building tables from this many events, or copying them, a process holds memory that its allocator does not give back. A new process
 * serves the tables.
 */
const buildMinEvents = 20_000

type RunningService = { store: Store; projector: Projector; queries: Set<number> }

/** Opens the tables and serves them. Undefined if it had to build the tables first: then this process does nothing else. */
const serve = async (settings: Settings, log: FollowedLog, run: RunSelect): Promise<RunningService | undefined> => {
  const paths = dataPaths(settings.dataDirectory)
  const starting = (position: number, head: number) => tell({ kind: 'starting', position, head })
  const store = await openStore(paths, settings, log, starting)
  const rebuilds = countRebuild(settings.rebuilds, store.rebuilt, new Date())
  tell({ kind: 'opened', rebuilds, confinement: confinement(), begunAt: store.replay.begunAt })
  let lastError = settings.lastError
  const projector = new Projector({
    ...settings,
    replay: store.replay,
    events: log,
    onState: (state) => tell({ kind: 'state', ...state }),
    onTrouble: (reason) => {
      lastError = reason
      tell({ kind: 'trouble', reason })
    },
    // The parent starts another process, which finds the file in the state of the last commit. The server, the follower and DuckDB's
    // threads would keep this process alive, and it can no longer end them properly. The next process gets the queries.
    onFatal: (loss, reason) => new Promise(() => tell({ kind: 'ending', loss, reason }, () => process.exit(1))),
  })
  const caughtUp = await projector.start(starting)
  if (caughtUp >= buildMinEvents || store.isPurged) {
    close(store)
    return undefined
  }
  projector.follow()
  const queries = new Set<number>()
  const statusAt = (position: number, head: number): TablesStatus => ({
    ...{ state: projector.stopped === undefined ? 'following' : 'stopped', position, head: Math.max(head, position) },
    ...{ rebuilds: rebuilds.count, lastRebuild: rebuilds.last, lastError: projector.stopped ?? lastError },
  })
  const server = createQueryServer({
    // The status from the arrival of the query, before the query brought the tables up to date.
    arrived: ({ upTo }) => statusAt(store.replay.position, upTo),
    ensure: (position) => projector.ensure(position),
    run: (request, services) => run(store, request, { ...services, blobsDirectory: paths.blobs, asksForBlobs: settings.asksForBlobs }),
    onBegun: (query) => queries.add(query),
    onEnded: (query) => queries.delete(query),
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(settings.socket, resolve))
  return { store, projector, queries }
}

const asKeys = (keys: readonly string[]): Buffer[] => keys.map((key) => Buffer.from(key, 'hex'))
/** The reason of an error, without the paths of files. */
const reasonOf = (error: unknown): string => errorText(error).replaceAll(/'\/[^']*'|"\/[^"]*"/g, 'a file of it')

const close = ({ replay, instance }: Store): void => {
  replay.close()
  instance.closeSync()
}

/** A confined process may remove the files in the directory, but not the directory itself: newer releases of Node then throw. */
const removeSocket = ({ socket }: Settings): void => {
  try {
    rmSync(dirname(socket), { recursive: true, force: true })
  } catch {
    // The parent removes the directory when it stops the process. If the parent was killed, an empty directory stays.
  }
}

/** Ends at once. Only an idle process closes its tables first, because this does not wait for DuckDB. The tables survive in both cases. */
const leave = (settings: Settings | undefined, running: RunningService | undefined): void => {
  if (settings) removeSocket(settings)
  if (running && running.queries.size === 0 && !running.projector.busy) {
    running.projector.stop()
    close(running.store)
  }
  process.kill(process.pid, 'SIGKILL')
}

/** Copies the tables once they hold everything up to the requested position. */
const copy = async ({ into, upTo }: CopyRequest, running: RunningService | undefined): Promise<void> => {
  try {
    if (!running) throw new Error('the tables are not open yet')
    await running.projector.ensure(upTo)
    tell({ kind: 'copied', into, position: await copyTables(running.store.instance, into) })
  } catch (error) {
    tell({ kind: 'not_copied', into, reason: reasonOf(error) })
  }
}

/**
 * Runs the SQL process: takes its settings from the parent, answers SELECTs on a Unix socket, and ends with the parent.
 *
 * @example serveSqlProcess({ openLog: openFollowedLog, run: runSelect })
 */
export const serveSqlProcess = (options: ServeOptions): void => {
  let settings: Settings | undefined
  let log: FollowedLog | undefined
  let running: RunningService | undefined
  const start = async (given: Settings): Promise<RunningService | undefined> => {
    log = options.openLog(given.dataDirectory, asKeys(given.masterKeys))
    return serve(given, log, options.run)
  }
  process.on('disconnect', () => leave(settings, running))
  // A terminal or service manager signals the whole group; the parent drains first and needs this process for it.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
  ignoreUserSignals()
  process.on('message', (message) => {
    if (isPing(message)) tell({ kind: 'alive' })
    const keys = parseKeys(message)
    // The settings came first, and the log has been open since.
    if (keys) log?.useKeys(asKeys(keys))
    if (keys) tell({ kind: 'keys' })
    const asked = parseCopyRequest(message)
    if (asked) void copy(asked, running)
  })
  process.once('message', (message) => {
    settings = parseSettings(message)
    start(settings).then(
      (started) => {
        running = started
        if (started) tell({ kind: 'ready' })
        // Nothing else is open: this process ends by itself once the parent has the message.
        else tell({ kind: 'built' }, () => process.channel?.unref())
      },
      (error: unknown) => {
        // Anything that is still open would keep the process alive.
        tell({ kind: 'failed', reason: reasonOf(error), isForeign: error instanceof ForeignTablesError }, () => process.exit(1))
      },
    )
  })
}
