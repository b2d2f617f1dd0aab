import type { Vault } from '../vault/vault.js'
import { ConfigError } from '../setup/config.js'
import { refusalToOpen } from '../log/shared/refusal-to-open.js'
import { Replica } from '../log/shared/replica.js'
import { Forked, Sequencer } from '../log/shared/sequencer.js'
import { ServerClock } from '../log/shared/server-clock.js'
import { Session } from '../log/shared/postgres/session.js'
import { readLogId } from '../log/shared/postgres/tables.js'

type Options = {
  /** The address of PostgreSQL. */
  url: string
  /** The path of the copy; no file may be there. */
  file: string
  vault: Vault
  onProgress: (position: number) => void
}

/** The result of a copy: its last position, and why it ends there if the log has more. */
export type Copied = { position: number; fault?: string }

const idOf = async (url: string): Promise<string> => {
  const session = await Session.open(url)
  try {
    return await readLogId(session)
  } finally {
    await session.close()
  }
}

const follow = async (sequencer: Sequencer, replica: Replica, onProgress: Options['onProgress']): Promise<void> => {
  const { seq, position, chain } = await sequencer.look()
  while (replica.place.seq < seq) {
    replica.take(await sequencer.after(replica.place))
    onProgress(replica.place.position)
  }
  // The log may have gone on meanwhile; then its end is that of a later batch.
  if (replica.place.seq === seq && (replica.place.position !== position || !replica.place.chain.equals(chain)))
    throw new RangeError('the events do not lead to the end that the log names')
}

/**
 * Copies a shared log into a file, up to its end at the beginning of the call. It only reads: it is not a node, and the nodes do not
 * notice it. If the log is broken at some place, the copy ends there, and says why.
 *
 * @example (await copyShared({ url: 'postgres://db/ledger', file: 'copy.sqlite', vault, onProgress })).fault // undefined
 * @throws ConfigError when PostgreSQL cannot be reached, or has no log
 */
export const copyShared = async ({ url, file, vault, onProgress }: Options): Promise<Copied> => {
  try {
    const clock = new ServerClock()
    const sequencer = new Sequencer(url, clock)
    try {
      const replica = new Replica({ file, logId: await idOf(url), vault, now: () => clock.now() })
      try {
        await follow(sequencer, replica, onProgress)
        return { position: replica.place.position }
      } catch (error) {
        // No node could have written what the tables have.
        if (error instanceof Forked || error instanceof RangeError) return { position: replica.place.position, fault: error.message }
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
