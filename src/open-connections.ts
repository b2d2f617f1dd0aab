import { Connections } from './connections/connections.js'
import type { Storage } from './open-storage.js'
import { isLoopback, type Config } from './setup/config.js'
import { ConnectedDatabases } from './sql/facade/connected-databases.js'

/** The databases that connections name, and the processes that talk to them. */
export type ConnectedParts = ReturnType<typeof openConnections>

export const openConnections = ({ config, storage }: { config: Config; storage: Storage }) => {
  const connections = new Connections({ egressAllow: config.egressAllow, loopback: isLoopback(config.host), files: config.connectionFiles })
  const databases = new ConnectedDatabases({ log: storage.log, connections })
  return { databases, stop: () => connections.stop() }
}
