import { isBusy } from '../basics/concurrency/retry.js'
import { limits } from '../basics/limits.js'
import { ErasedMeanwhile, type Execution } from './ledger.js'

// Records of what was said to models and by them: they must not be lost while the log is away for a moment.

/** Whether the log may take a record later. An erasure does not pass: the record may have data that it removed. */
export const mayPass = (error: unknown): boolean => isBusy(error) && !(error instanceof ErasedMeanwhile)

/** Tells when nobody tries any longer to record something that has ended now. */
export const recordPatience = (isStopping: () => boolean): (() => boolean) => {
  const until = performance.now() + limits.agentRecordPatienceMs
  return () => isStopping() || performance.now() >= until
}

/**
 * The key of a record. The log may have recorded a try without a word about it, so each try has the same key. No client can send one with a
 * blank.
 *
 * @example await ledger.execute(command, origin, { payloads: [payload], ...keyOfRecord('answer', answer) })
 */
export const keyOfRecord = (what: 'answer' | 'search' | 'evaluation', id: string): Required<Pick<Execution, 'idempotency'>> => ({
  idempotency: { key: `${what} ${id}`, request: id },
})
