import { LRUCache } from 'lru-cache'
import type { Connection } from '../../contract/requests.js'
import type { DatabaseSession, Surroundings } from '../contract/engine.js'
import { dialectOf } from '../../pushdown/dialects.js'
import { reasonToRead } from '../../pushdown/native.js'
import { noSecrets, secretsIn } from '../contract/parameters.js'
import { openClient } from './connect.js'
import { explainPostgres } from './explain.js'
import { readParameters } from './parameters.js'
import { PostgresSession } from './session.js'
import type { OwnType } from './types.js'

/** The types that the connected databases declare; the sessions of a database share them. */
const typesOf = new LRUCache<string, Map<number, OwnType>>({ max: 100 })

/** Opens a session within the connect timeout. @throws Problem of the parameters, the policy and the database */
export const openSession = async (connection: Connection, around: Surroundings): Promise<DatabaseSession> => {
  const { id, version } = connection
  const parameters = readParameters(connection)
  const toRead = reasonToRead(parameters.writable)
  const opened = await openClient(parameters, around, explainPostgres(secretsIn(connection.parameters, parameters), toRead))
  const key = `${id} ${version}`
  const own = typesOf.get(key) ?? new Map<number, OwnType>()
  typesOf.set(key, own)
  return new PostgresSession(opened, parameters, around, explainPostgres(noSecrets, toRead), {
    own,
    name: connection.name,
    dialect: dialectOf(connection.engine),
  })
}
