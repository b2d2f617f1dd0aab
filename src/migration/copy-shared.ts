import type { Vault } from '../vault/vault.js'
import { ConfigError } from '../setup/config.js'
import { isSamePlace } from '../log/shared/postgres/rows.js'
import { refusalToOpen } from '../log/shared/refusal-to-open.js'
import { Replica } from '../log/shared/replica.js'
import { ForkError, Sequencer } from '../log/shared/sequencer.js'
import { ServerClock } from '../log/shared/server-clock.js'
import { SharedLogSession } from '../log/shared/postgres/shared-log-session.js'
import { strayEvents } from '../log/shared/postgres/statements.js'
import { readLogId } from '../log/shared/postgres/tables.js'
import { BlockingEventError } from '../log/sqlite/blocking-event-error.js'

type Options = {
  /** The address of PostgreSQL. */
  url: string
  /** The path of the copy; no file may be there. */
  file: string
  vault: Vault
  onProgress: (position: number) => void
}

/** The result of a copy: the last position that it could follow, and the reason why it ends there if the log has more. */
export type CopyResult = { position: number; fault?: string }

const idOf = async (url: string): Promise<string> => {
  const session = await SharedLogSession.open(url)
  try {
    return await readLogId(session)
  } finally {
    await session.close()
  }
}

/**
 * Copies parts until one ends with the newest batch: only then does the copy show one moment of the log. An earlier part may lack a key
 * whose erasure comes later.
 */
export const copyAll = async (
  sequencer: Pick<Sequencer, 'look' | 'after'>,
  replica: Pick<Replica, 'place' | 'take'>,
  onProgress: Options['onProgress'],
): Promise<void> => {
  const head = await sequencer.look()
  for (;;) {
    const delta = await sequencer.after(replica.place)
    if (delta.to.seq > replica.place.seq) await replica.take(delta)
    onProgress(replica.place.position)
    if (replica.place.seq >= delta.newest) break
  }
  // The log may have grown meanwhile. Its end then belongs to a later batch.
  if (replica.place.seq === head.seq && !isSamePlace(replica.place, head))
    throw new RangeError('the events do not lead to the end that the log names')
}

/**
 * Copies a shared log into a file, at least up to its end at the beginning of the call. It only reads: it is not a node, and the nodes do
 * not notice it. If the log is broken at some place, or has an event that this release cannot apply, it reports the reason.
 *
 * @example (await copyShared({ url: 'postgres://db/ledger', file: 'copy.sqlite', vault, onProgress })).fault // undefined
 * @throws ConfigError when PostgreSQL cannot be reached, or has no log
 */
export const copyShared = async ({ url, file, vault, onProgress }: Options): Promise<CopyResult> => {
  try {
    const clock = new ServerClock()
    const sequencer = new Sequencer(url, clock)
    try {
      const replica = new Replica({ file, logId: await idOf(url), vault, now: () => clock.now() })
      try {
        await copyAll(sequencer, replica, onProgress)
        const strays = await sequencer.ask(strayEvents)
        if (strays > 0) throw new RangeError(`${strays} events lie outside of the log, before its first position or after its last`)
        return { position: replica.place.position }
      } catch (error) {
        // The events before it are checked, but undone with their part.
        if (error instanceof BlockingEventError) return { position: error.position - 1, fault: error.message }
        // No node could have written these rows.
        if (error instanceof ForkError || error instanceof RangeError) return { position: replica.place.position, fault: error.message }
        throw error
      } finally {
        replica.close()
      }
    } finally {
      await sequencer.close()
    }
  } catch (error) {
    if (error instanceof ConfigError) throw error
    throw refusalToOpen(error, url)
  }
}
