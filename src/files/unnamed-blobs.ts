import type { StreamId } from '../../events/common.js'
import { keepsRows } from '../../events/model.js'
import { blobsOf, mayNameBlobs } from '../../events/catalogue/references.js'
import type { Resource, Log } from '../log/contract/log.js'
import { everyResource } from '../log/read/every-resource.js'
import { eventsWith } from '../log/read/slices.js'
import type { Blobs } from './blobs.js'

type Holder = Pick<Resource<'file'>, 'kind' | 'state'> | Pick<Resource<'model'>, 'kind' | 'state'>

/** The blobs that a file or a model names now. */
export const hashesOf = ({ state }: Holder): string[] =>
  'content' in state
    ? [state.content]
    : state.versions.flatMap(({ result }) => (result ? [result.artefact, ...(keepsRows(result) ? [result.matrix] : [])] : []))

/** Removes from a set the blobs that current files and models name. These are mostly all, so that the log need not be read. */
const dropCurrent = async (hashes: Set<string>, { resources }: Log): Promise<void> => {
  if (hashes.size === 0) return
  for await (const file of everyResource(resources, 'file')) hashes.delete(file.state.content)
  for await (const model of everyResource(resources, 'model')) for (const hash of hashesOf(model)) hashes.delete(hash)
}

/** Removes from a set the blobs that any event after a position names, also in the past. */
const dropNamed = async (hashes: Set<string>, log: Log, signal: AbortSignal, after: number): Promise<void> => {
  if (hashes.size === 0) return
  const mayName = (text: string): boolean => {
    signal.throwIfAborted()
    return mayNameBlobs(text)
  }
  for await (const { type, data } of eventsWith(log, after, mayName)) {
    for (const hash of blobsOf(type, data)) hashes.delete(hash)
    if (hashes.size === 0) return
  }
}

/**
 * Removes from a set the blobs that any event names, now or in the past. The events up to `after` were looked through before.
 *
 * @throws the signal's reason
 */
export const dropAllNamed = async (hashes: Set<string>, log: Log, signal: AbortSignal, after = 0): Promise<void> => {
  if (after === 0) await dropCurrent(hashes, log)
  await dropNamed(hashes, log, signal, after)
  signal.throwIfAborted()
}

/**
 * Removes the blobs of uploads and trainings that were interrupted before their event: those that are marked as unnamed, and that no event
 * names. Blobs that this process has put stay, as their events may be under way. A blob that an event once named has no mark, and so stays
 * even with another log. Returns the number of removed blobs.
 *
 * @example await removeUnnamedBlobs(log, blobs, signal) // 2
 */
export const removeUnnamedBlobs = async (log: Log, blobs: Blobs, signal: AbortSignal): Promise<number> => {
  const marked = await blobs.unnamed()
  const hashes = new Set(marked)
  await dropAllNamed(hashes, log, signal)
  for (const hash of marked) if (!hashes.has(hash)) blobs.named(hash)
  return [...hashes].filter((hash) => blobs.removeUnlessPut(hash)).length
}

/** Removes the mark of blobs as soon as events name them. Returns the function that stops this. */
export const watchNamedBlobs = (log: Log, blobs: Blobs): (() => void) => {
  const settle = async (stream: StreamId, kind: 'file' | 'model'): Promise<void> => {
    const { resources } = log
    const found = await (kind === 'file' ? resources.byStream(kind, stream) : resources.byStream(kind, stream))
    for (const hash of found ? hashesOf(found) : []) if (blobs.waits(hash)) blobs.named(hash)
  }
  // The next start handles what is missed here.
  return log.onChanged(['file', 'model'], (stream, kind) => void settle(stream, kind).catch(() => undefined))
}
