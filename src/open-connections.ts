import { opened } from './basics/undo.js'
import { Connections } from './connections/connections.js'
import type { Storage } from './open-storage.js'
import type { Logger } from './basics/logger.js'
import { isOnlyLocal, type Config } from './setup/config.js'
import { ConnectedDatabases } from './sql/facade/connected-databases.js'

/** The connected databases, and the processes that query them. */
export type ConnectedParts = Awaited<ReturnType<typeof openConnections>>

/** Opens the connected databases; each connection is made at its first use. `stop` waits until all queries are recorded. */
export const openConnections = ({ config, logger, storage: { ledger, log } }: { config: Config; logger: Logger; storage: Storage }) =>
  opened((undo) => {
    const connections = new Connections({
      egressAllow: config.egressAllow,
      loopback: isOnlyLocal(config),
      files: config.connectionFiles,
    })
    const databases = new ConnectedDatabases({ ledger, log, connections, recordsAll: config.recordsAllQueries, logger })
    undo(() => databases.recorded())
    undo(() => connections.stop())
    undo(log.onChanged(['database'], (stream) => connections.forget(stream)))
    return { databases }
  })
