import type { Response } from 'express'

/** An answer that a handler has written and nobody has got yet. */
type Held = {
  /** The whole body, once it was ended; undefined when the answer goes on its way by itself, or never ended. */
  body: () => Buffer | undefined
  /** Lets what is written from now on go to the client. */
  release: () => void
}

const underWay = new WeakMap<Response, Held>()

/** What `write` and `end` take, as bytes. */
const bytesOf = (chunk: unknown, encoding: unknown): Buffer => {
  if (chunk instanceof Uint8Array) return Buffer.from(chunk)
  if (typeof chunk !== 'string') return Buffer.alloc(0)
  return Buffer.from(chunk, typeof encoding === 'string' && Buffer.isEncoding(encoding) ? encoding : 'utf8')
}

/** Keeps what a handler writes from the client, so that it can be stored or shown in another form first. */
export const holdBack = (res: Response): Held => {
  const chunks: Buffer[] = []
  let ended = false
  const release = (): void => {
    Reflect.deleteProperty(res, 'write')
    Reflect.deleteProperty(res, 'end')
    underWay.delete(res)
  }
  // Own properties hide the methods of the class until they are deleted.
  Reflect.set(res, 'write', (chunk: unknown, encoding: unknown): boolean => {
    chunks.push(bytesOf(chunk, encoding))
    return true
  })
  Reflect.set(res, 'end', (chunk?: unknown, encoding?: unknown): Response => {
    chunks.push(bytesOf(chunk, encoding))
    ended = true
    return res
  })
  const held = { body: () => (ended ? Buffer.concat(chunks) : undefined), release }
  underWay.set(res, held)
  return held
}

/**
 * Says that the answer about to be written is not to be kept: it is rows, or a refusal, or holds what may have to be erased. It
 * goes to the client as it is written.
 */
export const sendUnkept = (res: Response): void => underWay.get(res)?.release()

const withRows = new WeakSet<Response>()

/** Says that the answer about to be written shows rows of predictions: kept for a key, it goes with an erasure of rows. */
export const showsRows = (res: Response): void => void withRows.add(res)

/** Whether the answer that was written shows rows of predictions. */
export const hasRows = (res: Response): boolean => withRows.has(res)
