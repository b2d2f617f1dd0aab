import { jsonItems } from '../../basics/json-text.js'
import type { AnyResource } from '../../log/contract/log.js'

export type Headers = Readonly<Record<string, string>>
export type Piece = string | Buffer

/** A body that is produced while it is sent, no faster than the client reads it. */
export type Stream = {
  /** If the first piece fails, nothing has been sent yet and the error is answered. A later failure cuts the connection. */
  pieces: AsyncIterable<Piece>
  /** A client that reads nothing for this long is disconnected; null means never. The default is `eventReaderStallMs`. */
  stallMs?: number | null
  /** Ends the answer, even if the client has not read all of it. */
  ends?: AbortSignal
  /** Whether the pieces, once all of them were read, tell of an error in their own form. Such an answer is not kept. */
  endsInError?: () => boolean
  /** Called once at the end, even if no piece was ever requested. */
  close?: () => void
}

/** A cookie to set; without a value, a cookie to delete. */
export type Cookie = { name: string; value?: string; maxAgeMs?: number; secure?: boolean }

/** The answer to a request. */
export type Reply = {
  status: number
  /** The whole `Content-Type`. */
  type?: string
  headers?: Headers
  /** Missing for an answer without a body. */
  body?: Piece | Stream
  cookie?: Cookie
  /**
   * Whether the answer to a request with an idempotency key is kept. `never`: it is read again, is a refusal, or holds data that may
   * have to be erased. `rows`: it shows rows of predictions and is deleted when they are erased.
   */
  keep?: 'never' | 'rows'
  /** Whether its `ETag` names these very bytes. Only then 304 may tell a client to use the ones it has. */
  tagsContent?: true
}

type ReplyOptions = Omit<Reply, 'type' | 'body' | 'status'> & { status?: number }

const jsonType = 'application/json; charset=utf-8'

/** An answer whose JSON text is already written. */
export const jsonText = (text: string, more: ReplyOptions = {}): Reply => ({ status: 200, type: jsonType, body: text, ...more })

/**
 * An answer in JSON.
 *
 * @example json(record, { status: 201 })
 */
export const json = (value: unknown, more: ReplyOptions = {}): Reply => jsonText(JSON.stringify(value), more)

/** An answer in another media type; in UTF-8 unless the type names a charset. */
export const text = (type: string, body: string, more: ReplyOptions = {}): Reply => ({
  ...{ status: 200, type: type.includes('charset=') ? type : `${type}; charset=utf-8`, body },
  ...more,
})

/** An answer that is produced while it is sent. */
export const stream = (type: string, body: Stream, more: ReplyOptions = {}): Reply => ({ status: 200, type, body, ...more })

/** Headers of server-sent events. */
export const eventHeaders: Headers = { 'Cache-Control': 'no-cache, no-transform', 'X-Accel-Buffering': 'no' }

/** An answer without a body. */
export const noContent: Reply = { status: 204 }

/** The answer to HEAD where the body need not be produced. */
export const headOnly = (type: string, more: ReplyOptions = {}): Reply => ({ status: 200, type, ...more })

/**
 * The strong entity tag of a resource: the version of its stream. It counts only the resource's own events: data of other resources
 * in a record (`agent_ids`) can change without it, so it is never a reason for 304.
 *
 * @example json(record, { headers: entityTag(skill) }) // ETag: "7"
 */
export const entityTag = ({ version }: Pick<AnyResource, 'version'>): Headers => ({ ETag: `"${version}"` })

/** Up to this many items are sent whole, with a Content-Length; a longer list is streamed. */
const itemsInOne = 200

async function* arrayPieces(items: readonly unknown[]): AsyncGenerator<Piece, void, void> {
  yield '['
  yield* jsonItems(items)
  yield ']'
}

/** A JSON array. A long one is serialised in batches that yield to the event loop. */
export const jsonArray = (items: readonly unknown[], more: ReplyOptions = {}): Reply =>
  items.length <= itemsInOne ? json(items, more) : stream(jsonType, { pieces: arrayPieces(items) }, more)

/** A list in JSON whose text comes in pieces. */
export const jsonPieces = (pieces: AsyncIterable<Piece>, more: ReplyOptions = {}): Reply => stream(jsonType, { pieces }, more)

const isStream = (body: Piece | Stream): body is Stream => typeof body === 'object' && 'pieces' in body

/** A piece of a body as bytes; a text becomes UTF-8. */
export const bytesOf = (piece: Piece): Buffer => (typeof piece === 'string' ? Buffer.from(piece) : piece)

/** The body of a reply: a stream, or the whole of it; undefined if it has none. */
export const bodyOf = ({ body }: Reply): { stream: Stream } | { whole: Piece } | undefined => {
  if (body === undefined) return undefined
  return isStream(body) ? { stream: body } : { whole: body }
}

/** The pieces that were read, and then the rest. */
async function* continued(read: readonly Piece[], rest: AsyncIterator<Piece>): AsyncGenerator<Piece, void, void> {
  try {
    yield* read
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value
  } finally {
    await rest.return?.()
  }
}

/**
 * The whole text of a reply, even of a stream; empty if it has no body. If a stream has more bytes than this or ends in an error, the
 * result is a reply that sends the same: the pieces that were read, and then the rest.
 */
export const textUpTo = async (reply: Reply, maxBytes: number): Promise<string | Reply> => {
  const body = bodyOf(reply)
  if (!body) return ''
  if ('whole' in body) return body.whole.toString()
  const pieces = body.stream.pieces[Symbol.asyncIterator]()
  const read: Buffer[] = []
  let bytes = 0
  try {
    while (bytes <= maxBytes) {
      const next = await pieces.next()
      if (next.done === true) break
      const piece = bytesOf(next.value)
      read.push(piece)
      bytes += piece.length
    }
  } catch (error) {
    body.stream.close?.()
    throw error
  }
  if (bytes > maxBytes || body.stream.endsInError?.() === true)
    return { ...reply, body: { ...body.stream, pieces: continued(read, pieces) } }
  body.stream.close?.()
  return Buffer.concat(read).toString()
}
