import { Problem } from '../../basics/errors.js'
import type { Refusal } from '../../basics/opened-file.js'

/** Why nothing can be written while PostgreSQL does not answer. */
export const awayCause = 'the shared log cannot be reached'

/** The same while it gives statements up, for example because another session holds a lock. */
export const slowCause = 'the shared log takes too long'

const again = 'Send the request again, or to another node.'

/** The refusal of a read or a write at a node that lacks events of others. */
export const behind = () =>
  new Problem('behind', 'Behind', 'this node could not catch up with the other nodes in time', { hint: again, retryAfterSeconds: 1 })

/** The refusal of a read at a node that cannot find out whether it lacks something. */
export const unheard = () =>
  new Problem('behind', 'Behind', 'the shared log cannot be reached, so this node cannot know whether it has the newest events', {
    hint: `${again} With READS=local a node reads its own data, unless it was halted.`,
    retryAfterSeconds: 1,
  })

/** The refusal of a read at a node that no longer follows. */
export const goesNoFurther = ({ cause }: Refusal) =>
  new Problem('behind', 'Not following', cause, { hint: 'Ask another node.', retryAfterSeconds: 5 })

/** Why a node with other events than PostgreSQL writes nothing. */
export const differs = (how: string): Refusal => ({
  cause: `the shared log is not the one that this node follows: ${how}`,
  hint: 'Nothing more is written here. Keep the data directory of this node: "mindledger reappend" restores the lost events from it.',
})

/** Why a node writes nothing when PostgreSQL has all its events, but lost batches without events that this node has. */
export const lostRows: Refusal = {
  cause:
    'the shared log has all events of this node, but lost rows of it that are no events: answers kept for requests with a key, keys of payloads wrapped anew, or notes of the log',
  hint: 'Nothing more is written here until this node is started again: then it takes the rows of PostgreSQL. "mindledger reappend" before that restores the kept answers.',
}

/** Why a node writes nothing if it was cut off while "mindledger migrate --from" moved its log. */
export const movedAway: Refusal = {
  cause: 'the shared log was moved to a data directory, and goes on there',
  hint: 'End this node, and send requests to the service with that directory.',
}

/** The refusal of a write while PostgreSQL does not answer. */
export const away = () =>
  new Problem('storage_failed', 'Shared log away', 'the shared log cannot be reached; nothing of this request was recorded', {
    hint: 'Send the request again.',
    retryAfterSeconds: 2,
  })

/** The refusal of a write that PostgreSQL gave up. */
export const slow = () =>
  new Problem('storage_failed', 'Shared log slow', 'the shared log took too long; nothing of this request was recorded', {
    hint: 'Send the request again. The log of PostgreSQL says what its statements wait for.',
    retryAfterSeconds: 2,
  })

/** The refusal of a write that PostgreSQL refused. */
export const refusedThere = (cause: string) =>
  new Problem('storage_failed', 'Shared log failed', 'PostgreSQL refused to record this; nothing of this request was recorded', {
    hint: 'The log of PostgreSQL says more. Mend it there, then send the request again.',
    retryAfterSeconds: 5,
    cause,
  })

/** The answer to a write if it is not known whether it was recorded. */
export const unknown = () =>
  new Problem('outcome_unknown', 'Outcome unknown', 'the shared log did not answer in time whether it recorded this request', {
    hint: 'Send it again with the same Idempotency-Key: then it is recorded once.',
    retryAfterSeconds: 2,
  })

/** The refusal to read data that other nodes sealed with a key that this node lacks: the data is not erased. */
export const lacksKey = (keyId: string) =>
  new Problem('storage_failed', 'Key missing', `this node lacks the master key ${keyId}, with which other nodes seal`, {
    hint: 'Ask another node, and start this one with the new key.',
    retryAfterSeconds: 60,
  })
