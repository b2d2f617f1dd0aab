import { expect, test } from '@jest/globals'
import { fc } from '../support/random/properties.js'
import { Replay, replay, replayLimits } from '../../projections/replay.js'
import { countOf } from '../support/counts.js'
import { play, steps } from '../support/log/histories.js'
import { dump, expectTables } from '../support/log/states.js'
import { memoryDatabase } from '../support/memory-database.js'

test('random batches, one rebuild and a fold agree at every position', async () => {
  await fc.assert(
    fc.asyncProperty(steps(80), fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 8 }), async (chosen, sizes) => {
      const log = play(chosen)
      const [once, split] = [await memoryDatabase(), await memoryDatabase()]
      await replay({ events: log, payloads: log, database: once })
      const tables = await Replay.open({ events: log, payloads: log, database: split }, { ...replayLimits, batchMaxEvents: 4 })
      for (let i = 0; tables.position < log.head(); i++) await tables.catchUp(tables.position + sizes[i % sizes.length]!)
      tables.close()
      expect(await dump(split)).toEqual(await dump(once))
      const connection = await once.connect()
      await expectTables(
        connection,
        log.envelopes,
        log.envelopes.map(({ position }) => position),
      )
      connection.closeSync()
      once.closeSync()
      split.closeSync()
    }),
    { numRuns: 5 * countOf('PROPERTY_TIMES') },
  )
})
