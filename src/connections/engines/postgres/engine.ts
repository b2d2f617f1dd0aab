import type { Engine } from '../contract/engine.js'
import { explainPostgres } from './explain.js'
import { openClient } from './connect.js'
import { readParameters } from './parameters.js'
import { PostgresSession } from './session.js'
import type { OwnType } from './types.js'
import { LRUCache } from 'lru-cache'

/** The types that the databases of connections declare, which their sessions share. */
const typesOf = new LRUCache<string, Map<number, OwnType>>({ max: 100 })

/** PostgreSQL, and databases that speak its protocol. */
export const postgres: Engine = {
  check: (parameters) => void readParameters(parameters),
  connect: async ({ id, version, parameters: given }, around) => {
    const parameters = readParameters(given)
    const secrets = [parameters.password, parameters.encryption.key ?? '', typeof given['url'] === 'string' ? given['url'] : '']
    const explain = explainPostgres(secrets)
    const opened = await openClient(parameters, around, explain)
    const key = `${id} ${version}`
    const own = typesOf.get(key) ?? new Map<number, OwnType>()
    typesOf.set(key, own)
    return new PostgresSession(opened, parameters, around, explain, own)
  },
}
