import { once } from 'node:events'
import type { Response } from 'express'
import { limits } from '../../basics/limits.js'
import { bodyOf, bytesOf, type Cookie, type Headers, type Piece, type Reply, type Stream } from '../protocol/reply.js'

/** This many bytes are sent at once; fewer wait for more in the same turn of the event loop. */
const gatherBytes = 16_384

const sendCookie = (res: Response, { name, value, maxAgeMs, secure = false }: Cookie): void => {
  if (value === undefined) res.clearCookie(name, { path: '/' })
  else res.cookie(name, value, { httpOnly: true, sameSite: 'lax', path: '/', secure, ...(maxAgeMs !== undefined && { maxAge: maxAgeMs }) })
}

const sendHead = (res: Response, { status, type, headers, cookie }: Reply, always: Headers): void => {
  res.statusCode = status
  for (const name in always) res.setHeader(name, always[name] ?? '')
  for (const name in headers) res.setHeader(name, headers[name] ?? '')
  if (type !== undefined) res.setHeader('Content-Type', type)
  if (cookie) sendCookie(res, cookie)
}

/** Writes pieces, and joins short ones of one turn of the event loop. A body that is complete in one turn gets a Content-Length. */
class Outlet {
  #held: Buffer[] = []
  #bytes = 0
  #soon: NodeJS.Immediate | undefined

  constructor(
    private readonly res: Response,
    private readonly sendHead: () => void,
  ) {}

  write(piece: Piece): void {
    const bytes = bytesOf(piece)
    if (bytes.length === 0) return
    this.#held.push(bytes)
    this.#bytes += bytes.length
    if (this.#bytes >= gatherBytes) this.#flush()
    else this.#soon ??= setImmediate(() => this.#flush())
  }

  end(): void {
    clearImmediate(this.#soon)
    const rest = Buffer.concat(this.#held)
    if (!this.res.headersSent) {
      this.sendHead()
      // This is the whole body; HEAD gets its length, too.
      if (!this.res.hasHeader('Content-Length')) this.res.setHeader('Content-Length', rest.length)
    }
    this.res.end(rest)
  }

  /** Discards unsent pieces. */
  drop(): void {
    clearImmediate(this.#soon)
    this.#held = []
  }

  #flush(): void {
    clearImmediate(this.#soon)
    this.#soon = undefined
    if (!this.res.headersSent) this.sendHead()
    // One write instead of `cork`: after that, Node 22 and 24 may never tell `drain`, and the answer would stop here.
    this.res.write(Buffer.concat(this.#held))
    this.#held = []
    this.#bytes = 0
  }
}

/** Waits until the client has read enough to write more; false if the answer was ended or the client stalled and was disconnected. */
const taken = async (res: Response, over: AbortSignal, stallMs: number | null): Promise<boolean> => {
  if (!res.writableNeedDrain) return !over.aborted
  const stalled = stallMs === null ? undefined : setTimeout(() => res.destroy(), stallMs)
  try {
    await once(res, 'drain', { signal: over })
    return true
  } catch {
    return false
  } finally {
    clearTimeout(stalled)
  }
}

const sendStream = async (res: Response, { pieces, stallMs, ends }: Stream, outlet: Outlet): Promise<void> => {
  const left = new AbortController()
  res.once('close', () => left.abort())
  if (res.closed) left.abort()
  const over = ends ? AbortSignal.any([left.signal, ends]) : left.signal
  try {
    for await (const piece of pieces) {
      outlet.write(piece)
      if (!(await taken(res, over, stallMs === undefined ? limits.eventReaderStallMs : stallMs))) break
    }
    outlet.end()
  } catch (error) {
    outlet.drop()
    // If the client has disconnected, nobody needs the error.
    if (!left.signal.aborted) throw error
  }
}

/** Sends a body that is complete. Node joins a text with the head, so that both leave in one write. */
const sendWhole = (res: Response, reply: Reply, always: Headers, body: Piece): void => {
  const { status, type, headers, cookie, tagsContent = false } = reply
  const { method, headers: asked } = res.req
  if (cookie || (tagsContent && asked['if-none-match'] !== undefined)) {
    sendHead(res, reply, always)
    if (tagsContent && res.req.fresh) {
      // The client has these bytes already: If-None-Match names their ETag.
      res.statusCode = 304
      res.removeHeader('Content-Type')
      res.end()
      return
    }
    res.setHeader('Content-Length', Buffer.byteLength(body))
  } else {
    // A head that is written at once costs Node less than headers that are set one by one.
    const told: Record<string, string | number> = { ...always, ...headers }
    if (type !== undefined) told['Content-Type'] = type
    told['Content-Length'] = Buffer.byteLength(body)
    res.writeHead(status, told)
  }
  if (method === 'HEAD') res.end()
  else res.end(body)
}

/**
 * Sends a reply; only this function writes to a client. `always` are headers of every answer to the request.
 *
 * @throws whatever the pieces of a stream throw. If `res.headersSent` is false then, an error can still be answered
 * @example await send(res, json({ ok: true }), call.answerHeaders)
 */
export const send = async (res: Response, reply: Reply, always: Headers): Promise<void> => {
  const body = bodyOf(reply)
  if (body && 'stream' in body) {
    try {
      await sendStream(res, body.stream, new Outlet(res, () => sendHead(res, reply, always)))
    } finally {
      body.stream.close?.()
    }
    return
  }
  if (body) {
    sendWhole(res, reply, always, body.whole)
    return
  }
  sendHead(res, reply, always)
  res.end()
}
