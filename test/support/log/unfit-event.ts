import Database from 'better-sqlite3'
import { nextChain } from '../../../events/stored/chain.js'
import { renderEnvelope } from '../../../events/stored/envelope.js'
import { readTail } from '../../../src/log/storage/events.js'

/**
 * Appends an event with a correct chain that no projection of this release can handle, as a newer release might write it. The service must
 * be stopped. Returns the event's position.
 */
export const appendUnfitEvent = (logFile: string): number => {
  const db = new Database(logFile)
  try {
    const tail = readTail(db)
    const position = tail.position + 1
    const text = renderEnvelope({
      ...{ position, stream: 'unfit', version: 1, type: 'SkillExploded', schema: 1, recorded_at: '2099-01-01T00:00:00.000000Z' },
      ...{ actor: 'test', source: 'system', request: null, correlation: null, causation: null, data: {} },
    })
    db.prepare('INSERT INTO events (position, text, chain) VALUES (?, ?, ?)').run(position, text, nextChain(tail.chain, text))
    return position
  } finally {
    db.close()
  }
}
