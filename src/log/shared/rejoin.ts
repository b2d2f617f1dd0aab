import type { Replica } from './replica.js'
import type { Sequencer } from './sequencer.js'
import { takeBack } from './take-back.js'

/**
 * Reconnects a file that has the shared log's events but not its last batch: a restored backup, or a file whose batches were lost in a
 * failover, or lost and appended again under other numbers. Rows that only the file has go. It fetches everything but events again,
 * starting at the batch of its last event. Returns false when the shared log does not have its events.
 *
 * @example if (!(await rejoin(replica, sequencer))) throw forked
 * @throws Unreachable; RangeError when what others wrote does not follow from the file
 */
export const rejoin = async (replica: Replica, sequencer: Sequencer): Promise<boolean> => {
  const { position, chain } = replica.place
  let seq = await sequencer.batchOf(position, chain)
  if (seq === undefined) return false
  await sequencer.ask((session) => takeBack(replica, session))
  for (;;) {
    const { place } = replica
    const { rows, to, newest } = await sequencer.since(seq, place.position)
    replica.take({ rows, to: to.position > place.position ? to : { ...place, seq: to.seq, batch: to.batch }, newest })
    if (to.seq >= newest) return true
    seq = to.seq
  }
}
