import { setImmediate } from 'node:timers/promises'
import { parseEnvelope } from '../../events/envelope.js'
import { blobsOf, mayNameBlobs } from '../../events/references.js'
import { limits } from '../limits.js'
import type { Log } from '../log/log.js'
import type { Blobs } from './blobs.js'

/** Takes out of a set the blobs that today's files and models name: mostly all, so that the log need not be read. */
const dropCurrent = async (hashes: Set<string>, { resources }: Log): Promise<void> => {
  for (const { state } of await resources.list('file')) hashes.delete(state.content)
  for (const { state } of await resources.list('model'))
    for (const { result } of state.versions) if (result) for (const hash of [result.artefact, result.matrix]) hashes.delete(hash)
}

/** Takes out of a set the blobs that any event names, the past's too. Other work gets its turn after each page. */
const dropNamed = async (hashes: Set<string>, log: Log, signal: AbortSignal): Promise<void> => {
  for (let after = 0; hashes.size > 0;) {
    signal.throwIfAborted()
    const page = await log.readAll(after, limits.followerBatchEvents)
    for (const { position, text } of page) {
      after = position
      if (!mayNameBlobs(text)) continue
      const { type, data } = parseEnvelope(text)
      for (const hash of blobsOf(type, data)) hashes.delete(hash)
    }
    if (page.length === 0) return
    await setImmediate()
  }
}

/**
 * Removes the blobs that no event names: what an upload or a training left that was cut off before its event. Young ones
 * stay, and so do those that this process has put, whose events may be on their way. Gives the number of those removed.
 *
 * @example await removeUnnamedBlobs(log, blobs, signal) // 2
 */
export const removeUnnamedBlobs = async (log: Log, blobs: Blobs, signal: AbortSignal): Promise<number> => {
  const hashes = new Set<string>()
  for (const hash of await blobs.list()) if ((await blobs.ageMs(hash)) > limits.unnamedBlobMinAgeMs) hashes.add(hash)
  await dropCurrent(hashes, log)
  await dropNamed(hashes, log, signal)
  signal.throwIfAborted()
  return [...hashes].filter((hash) => blobs.removeUnlessPut(hash)).length
}
