import { expect, test } from '@jest/globals'
import { setImmediate as turn } from 'node:timers/promises'
import { limits } from '../../../src/basics/limits.js'
import { Problem } from '../../../src/basics/errors.js'
import { listConnected } from '../../../src/sql/engine/connected-tables/list-connected.js'
import type { Scope } from '../../../src/sql/engine/session/scope.js'
import type { Session } from '../../../src/sql/engine/session/session.js'

test('a list over more connections than may be open at once has all of them', async () => {
  const databases = Array.from({ length: limits.connectionPoolsMax + 6 }, (_, n) => ({
    name: `db_${n}`,
    stream: `${n}`,
    engine: 'postgres',
  }))
  let open = 0
  const tablesOf = async () => {
    if (++open > limits.connectionPoolsMax) throw new Problem('busy', 'Too many connections', 'all are in use')
    await turn()
    open -= 1
    return { tables: [{ name: 'orders', schema: null, isUsual: true, type: 'table' }], isCut: false }
  }
  const session = { head: 1, directory: { databases: () => Promise.resolve(databases) }, answers: { tablesOf } }
  const listed = await listConnected(session as unknown as Session, 'tables', { position: 1 } as unknown as Scope, {})
  expect(JSON.parse(listed)).toHaveLength(databases.length)
})
