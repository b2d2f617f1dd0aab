import type { Replica } from './replica.js'
import type { Sequencer } from './sequencer.js'

/**
 * Lets a file follow again whose last events were lost by a failover and appended again by another node, in other batches than this file
 * knows. It gets what is no event from the batches after the loss anew. Returns false when the shared log does not have its events.
 *
 * @example if (!(await rejoin(replica, sequencer))) throw forked
 * @throws Unreachable; RangeError when what others wrote does not follow from the file
 */
export const rejoin = async (replica: Replica, sequencer: Sequencer): Promise<boolean> => {
  let seq = await sequencer.reappendedBefore(replica.place)
  if (seq === undefined) return false
  for (;;) {
    const { place } = replica
    const { rows, to, newest } = await sequencer.since(seq, place.position)
    replica.take({ rows, to: to.position > place.position ? to : { ...place, seq: to.seq }, newest })
    if (to.seq >= newest) return true
    seq = to.seq
  }
}
