import { erasedIn, type ErasedSince } from '../../log/storage/erased-blobs.js'
import type { BlobConnections } from './blob-connections.js'

/** A statement searches at most this many events, because it has little time. */
const eventsAtOnce = 10_000

/** Most erasures name no blobs, and may be many. */
const erasures = `
  SELECT text FROM mindledger.events
  WHERE position > $1 AND position <= $2 AND text LIKE '%"type":"DataErased"%' AND text NOT LIKE '%"blobs":[]%'`

/**
 * Asks the log that nodes share, because the file of a node may be behind it.
 *
 * @example await erasedSince(connections)(17) // new Set(['9f86d0…'])
 * @throws Problem storage_failed
 */
export const erasedSince =
  (connections: Pick<BlobConnections, 'query'>): ErasedSince =>
  async (position) => {
    const [head] = await connections.query<{ position: number }>('SELECT position::float8 AS position FROM mindledger.head')
    const end = head?.position ?? 0
    const erased = new Set<string>()
    for (let from = position; from < end; from += eventsAtOnce) {
      const rows = await connections.query<{ text: string }>(erasures, [from, Math.min(from + eventsAtOnce, end)])
      for (const hash of erasedIn(rows.map(({ text }) => text))) erased.add(hash)
    }
    return erased
  }
