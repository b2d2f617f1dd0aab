import { expect, test } from '@jest/globals'
import Database from 'better-sqlite3'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Ledger } from '../../../src/commands/ledger.js'
import type { Delta, EventRow, Place } from '../../../src/log/shared/postgres/rows.js'
import { Replica } from '../../../src/log/shared/replica.js'
import type { Sequencer } from '../../../src/log/shared/sequencer.js'
import { SharedTurns } from '../../../src/log/shared/shared-turns.js'
import { SqliteLog } from '../../../src/log/sqlite/sqlite-log.js'
import { Vault } from '../../../src/vault/vault.js'
import { origin, temporaryDirectory, testKey } from '../../support/log/log.js'
import { until } from '../../support/until.js'

/** The events of a log, a batch each. */
const eventsOf = async (file: string, count: number): Promise<{ logId: string; events: EventRow[] }> => {
  const vault = new Vault(testKey)
  const log = new SqliteLog({ file, vault })
  const ledger = new Ledger(log, vault)
  for (let i = 0; i < count; i++) await ledger.execute({ type: 'CreateProject', data: { project: `p${i}` } }, origin)
  const { logId } = await log.head()
  await log.close()
  const db = new Database(file, { readonly: true })
  const events = db.prepare<[], EventRow>('SELECT position, text, chain FROM events ORDER BY position').all()
  db.close()
  return { logId, events }
}

test('a node that is told of new batches while it starts follows them afterwards, and goes on', async () => {
  const directory = temporaryDirectory()
  const { logId, events } = await eventsOf(join(directory.path, 'others.sqlite'), 5)
  const replica = new Replica({ file: join(directory.path, 'log.sqlite'), logId, vault: new Vault(testKey), now: Date.now })
  const asked: Place[] = []
  let answer = (): void => undefined
  const answered = new Promise<void>((resolve) => (answer = resolve))
  const after = async (place: Place): Promise<Delta> => {
    // The log grows while the first answer is on its way.
    const last = asked.push(place) === 1 ? 2 : events.length
    await answered
    const rows = { events: events.slice(place.position, last), payloads: [], answers: [], notes: [] }
    return { rows, to: { seq: last, position: last, chain: events[last - 1]!.chain, batch: undefined }, newest: last }
  }
  const turns = new SharedTurns({ replica, sequencer: { after } as unknown as Sequencer })
  try {
    const starting = turns.start()
    turns.hear(events.length)
    for (let i = 0; i < 10; i++) await nextTurn()
    answer()
    await starting
    await until(() => turns.place.position === events.length)
    expect(turns.health().unwritable).toBeUndefined()
    expect(asked.map(({ position }) => position)).toEqual([0, 2])
  } finally {
    await turns.close()
    directory.remove()
  }
})
