import type { Response } from 'express'
import { once } from 'node:events'
import { limits } from '../../basics/limits.js'

/** Waits until the client has taken what was written; false when it left, or took nothing for too long and is cut off. */
export const taken = async (res: Response, gone: AbortSignal, stallMs: number = limits.eventReaderStallMs): Promise<boolean> => {
  if (!res.writableNeedDrain) return !gone.aborted
  const stalled = setTimeout(() => res.destroy(), stallMs)
  try {
    await once(res, 'drain', { signal: gone })
    return true
  } catch {
    return false
  } finally {
    clearTimeout(stalled)
  }
}

/** What is aborted when the client leaves. */
export const leaving = (res: Response): AbortSignal => {
  const left = new AbortController()
  res.once('close', () => left.abort())
  return left.signal
}
