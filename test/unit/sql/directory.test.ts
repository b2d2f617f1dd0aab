import { expect, jest, test } from '@jest/globals'
import { Directory } from '../../../src/sql/engine/resolve/directory.js'
import { memoryDatabase } from '../../support/memory-database.js'

test('lists of long views are kept by their characters, the last used ones', async () => {
  const instance = await memoryDatabase()
  const connection = await instance.connect()
  try {
    await connection.run('CREATE SCHEMA ledger')
    await connection.run(
      `CREATE TABLE ledger.views_history AS SELECT n AS id, 'v' || n AS name, 's' || n AS stream, repeat('x', 1000000) AS query,
       '' AS database, 'p' AS project, 0::BIGINT AS valid_from, NULL::BIGINT AS valid_to FROM range(4) AS r(n)`,
    )
    const directory = new Directory(connection, instance)
    const prepare = jest.spyOn(connection, 'prepare')
    for (let position = 1; position <= 10; position++) expect(await directory.views(position, 'p')).toHaveLength(4)
    expect(prepare).toHaveBeenCalledTimes(10)
    await directory.views(10, 'p')
    expect(prepare).toHaveBeenCalledTimes(10)
    await directory.views(1, 'p')
    expect(prepare).toHaveBeenCalledTimes(11)
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
})
