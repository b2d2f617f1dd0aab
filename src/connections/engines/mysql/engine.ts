import type { Engine } from '../contract/engine.js'
import { openClient } from './connect.js'
import { explainMysql } from './explain.js'
import { readParameters } from './parameters.js'
import { MysqlSession } from './session.js'

/** MySQL, MariaDB, and databases that speak their protocol. */
export const mysql: Engine = {
  check: (parameters) => void readParameters(parameters),
  connect: async ({ parameters: given }, around) => {
    const parameters = readParameters(given)
    const url = given['url']
    const explain = explainMysql([parameters.password, parameters.encryption.key ?? '', typeof url === 'string' ? url : ''])
    return new MysqlSession(await openClient(parameters, around, explain), parameters, around, explain)
  },
}
