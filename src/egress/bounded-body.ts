import { limits } from '../basics/limits.js'
import { AnswerTooLarge, explainCall, stoppedInTheMiddle } from './request-errors.js'

/** The most bytes of a body, and the most milliseconds without any bytes. */
export type BodyLimits = { maxBytes?: number; stallMs?: number }

type Bounds = { where: string; stop: (reason: Error) => void; isStoppedByCaller: () => boolean }

/**
 * The body of an answer as it arrives. Two things have limits: its bytes after decompression, and the time without any bytes. Failures are
 * problems.
 */
export const boundedBody = (
  body: ReadableStream<Uint8Array>,
  { where, stop, isStoppedByCaller }: Bounds,
  { maxBytes = limits.egressAnswerMaxBytes, stallMs = limits.egressStallTimeoutMs }: BodyLimits = {},
): ReadableStream<Uint8Array> => {
  const reader = body.getReader()
  let bytes = 0
  const next = async () => {
    const timer = setTimeout(() => stop(stoppedInTheMiddle(where, stallMs)), stallMs)
    try {
      const part = await reader.read()
      bytes += part.value?.byteLength ?? 0
      if (bytes > maxBytes) {
        stop(new AnswerTooLarge(where))
        throw new AnswerTooLarge(where)
      }
      return part
    } catch (error) {
      throw isStoppedByCaller() ? error : explainCall(error, where)
    } finally {
      clearTimeout(timer)
    }
  }
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const { done, value } = await next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}
