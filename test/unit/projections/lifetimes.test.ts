import { expect, test } from '@jest/globals'
import { replay } from '../../../projections/replay.js'
import { MemoryLog, streamOf } from '../../support/log/memory-log.js'
import { expectTables, rowsOf } from '../../support/log/states.js'
import { memoryDatabase } from '../../support/memory-database.js'

const request = {
  engine: 'tabular',
  target: 'rent',
  database: '',
  query: 'SELECT 1',
  using: {},
  seed: 1,
  activate: true,
  tag: null,
  version: 1,
}

test('what begins again with its stream keeps nothing of its earlier lifetime, even in the same batch', async () => {
  const log = new MemoryLog()
  const stream = streamOf(1)
  const model = { project: streamOf(2), name: 'rents' }
  log.append({ stream, type: 'ModelCreated', data: model })
  log.append({ stream, type: 'ModelTrainingRequested', data: { ...request, keep_training_data: false } })
  log.append({ stream, type: 'ModelDeleted', data: {} })
  log.append({ stream, type: 'ModelCreated', data: model })
  log.append({ stream, type: 'ModelTrainingRequested', data: request })
  const database = await memoryDatabase()
  await replay({ events: log, payloads: log, database })
  const connection = await database.connect()
  const kept = 'SELECT valid_from, keep_training_data FROM ledger.model_versions_history ORDER BY valid_from'
  expect(await rowsOf(connection, kept)).toEqual([
    { valid_from: 2, keep_training_data: false },
    { valid_from: 5, keep_training_data: null },
  ])
  await expectTables(connection, log.envelopes, [1, 2, 3, 4, 5])
  connection.closeSync()
  database.closeSync()
})
