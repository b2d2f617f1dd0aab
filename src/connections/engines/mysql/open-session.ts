import type { Connection } from '../../contract/requests.js'
import type { DatabaseSession, Surroundings } from '../contract/engine.js'
import { reasonToRead } from '../../pushdown/native.js'
import { noSecrets, secretsIn } from '../contract/parameters.js'
import { openClient } from './connect.js'
import { explainMysql } from './explain.js'
import { readParameters } from './parameters.js'
import { MysqlSession } from './session.js'

/** Opens a session within the connect timeout. @throws Problem of the parameters, the policy and the database */
export const openSession = async (connection: Connection, around: Surroundings): Promise<DatabaseSession> => {
  const parameters = readParameters(connection)
  const toRead = reasonToRead(parameters.writable)
  const opened = await openClient(parameters, around, explainMysql(secretsIn(connection.parameters, parameters), toRead))
  return new MysqlSession(opened, parameters, around, explainMysql(noSecrets, toRead), connection.name)
}
