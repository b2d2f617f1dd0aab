import { afterAll, beforeAll, expect } from '@jest/globals'
import { Connections } from '../../../src/connections/connections.js'
import type { Connection } from '../../../src/connections/contract/requests.js'
import { duck, readAll } from './answers.js'
import { endOfAnswer, mysqlThat, oneColumn, packet } from './mysql-server.js'
import { password } from './postgres.js'
import type { Listening } from './proxy.js'

let count = 0

/** A new connection to a server with MySQL's protocol. */
export const toMysql = ({ port }: Pick<Listening, 'port'>, more: Connection['parameters'] = {}): Connection => ({
  id: `mysql ${++count}`,
  version: 1,
  engine: 'mysql',
  parameters: { host: '127.0.0.1', port, user: 'me', password, database: 'shop', ssl: false, ...more },
})

/**
 * Connections for all tests of a file about faulty servers, and one server without a fault. `expectOthersRead` checks that this one is read
 * as if nothing had happened, by the process that met the fault.
 *
 * @example const at = startBesideMysql(); test('…', () => at.expectOthersRead())
 */
export const startBesideMysql = (): { readonly connections: Connections; expectOthersRead: () => Promise<void> } => {
  const connections = new Connections({ egressAllow: '', loopback: true, files: undefined })
  let steady: Listening | undefined
  beforeAll(async () => {
    steady = await mysqlThat((socket) => socket.write(Buffer.concat([oneColumn, packet(4, '\x01x'), endOfAnswer(5)])))
  })
  afterAll(async () => {
    connections.stop()
    await steady?.stop()
  })
  return {
    connections,
    expectOthersRead: async () => {
      if (!steady) throw new Error('the server does not run yet')
      expect((await readAll(await duck(), connections, toMysql(steady), 'SELECT x FROM t')).rows).toEqual([['x']])
      expect(connections.pids).toHaveLength(1)
    },
  }
}
