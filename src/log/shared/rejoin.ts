import type { Replica } from './replica.js'
import type { Sequencer } from './sequencer.js'

/**
 * Lets a file follow that has events of the shared log, and does not know the number of its last batch: a restored backup, or one whose
 * batches were lost by a failover and appended again under other numbers. It gets what is no event from the batch of its last event on
 * anew. Returns false when the shared log does not have its events.
 *
 * @example if (!(await rejoin(replica, sequencer))) throw forked
 * @throws Unreachable; RangeError when what others wrote does not follow from the file
 */
export const rejoin = async (replica: Replica, sequencer: Sequencer): Promise<boolean> => {
  const { position, chain } = replica.place
  let seq = await sequencer.batchOf(position, chain)
  if (seq === undefined) return false
  for (;;) {
    const { place } = replica
    const { rows, to, newest } = await sequencer.since(seq, place.position)
    replica.take({ rows, to: to.position > place.position ? to : { ...place, seq: to.seq }, newest })
    if (to.seq >= newest) return true
    seq = to.seq
  }
}
