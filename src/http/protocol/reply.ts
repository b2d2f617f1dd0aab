import { jsonItems } from '../../basics/json-text.js'
import type { AnyFound } from '../../log/contract/log.js'

export type Headers = Readonly<Record<string, string>>
export type Piece = string | Buffer

/** A body that is made while it is sent, no faster than the client takes it. */
export type Stream = {
  /** Nothing has been sent when the first one fails: the failure is answered then. A later failure cuts the connection. */
  pieces: AsyncIterable<Piece>
  /** A client that takes nothing for so long is cut off; null: never. Without it, `eventReaderStallMs`. */
  stallMs?: number | null
  /** Ends the answer, even while the client has yet to take some of it. */
  ends?: AbortSignal
  /** Called once when it is over, also when no piece was ever asked for. */
  close?: () => void
}

/** A cookie to keep; without a value, one to forget. */
export type Cookie = { name: string; value?: string; maxAgeMs?: number; secure?: boolean }

/** What a request is answered. */
export type Reply = {
  status: number
  /** The whole `Content-Type`. */
  type?: string
  headers?: Headers
  /** Without one the answer has no body. */
  body?: Piece | Stream
  cookie?: Cookie
  /**
   * Of an answer to a request with a key: `never` when it is not to be kept, because it is read anew, or is a refusal, or holds
   * what may have to be erased; `rows` when it shows rows of predictions, so that it goes with an erasure of them.
   */
  keep?: 'never' | 'rows'
}

type More = Omit<Reply, 'type' | 'body' | 'status'> & { status?: number }

const jsonType = 'application/json; charset=utf-8'

/** An answer in JSON that was written before. */
export const jsonText = (text: string, more: More = {}): Reply => ({ status: 200, type: jsonType, body: text, ...more })

/**
 * An answer in JSON.
 *
 * @example json(record, { status: 201 })
 */
export const json = (value: unknown, more: More = {}): Reply => jsonText(JSON.stringify(value), more)

/** An answer in another media type; in UTF-8, unless the type says a charset. */
export const text = (type: string, body: string, more: More = {}): Reply => ({
  ...{ status: 200, type: type.includes('charset=') ? type : `${type}; charset=utf-8`, body },
  ...more,
})

/** An answer that is made while it is sent. */
export const stream = (type: string, body: Stream, more: More = {}): Reply => ({ status: 200, type, body, ...more })

/** There is nothing to show. */
export const noContent: Reply = { status: 204 }

/** What HEAD is answered where making the body would be for nothing. */
export const headOnly = (type: string, more: More = {}): Reply => ({ status: 200, type, ...more })

/**
 * The strong entity tag of a resource: the version of its stream. It counts the resource's own events: what a record shows of
 * other resources (`agent_ids`) changes without it.
 *
 * @example json(record, { headers: entityTag(skill) }) // ETag: "7"
 */
export const entityTag = ({ version }: Pick<AnyFound, 'version'>): Headers => ({ ETag: `"${version}"` })

/** So many items are one answer with its length; more go out as they are written down. */
const itemsInOne = 200

async function* arrayPieces(items: readonly unknown[]): AsyncGenerator<Piece, void, void> {
  yield '['
  yield* jsonItems(items)
  yield ']'
}

/** A JSON array: many items are written down some at a time, and others have the event loop in between. */
export const jsonArray = (items: readonly unknown[], more: More = {}): Reply =>
  items.length <= itemsInOne ? json(items, more) : stream(jsonType, { pieces: arrayPieces(items) }, more)

/** A list in JSON whose text comes in pieces. */
export const jsonPieces = (pieces: AsyncIterable<Piece>, more: More = {}): Reply => stream(jsonType, { pieces }, more)

const isStream = (body: Piece | Stream): body is Stream => typeof body === 'object' && 'pieces' in body

export const bytesOf = (piece: Piece): Buffer => (typeof piece === 'string' ? Buffer.from(piece) : piece)

/** What a reply has for a body: a stream, or all of it; undefined where it has none. */
export const bodyOf = ({ body }: Reply): { stream: Stream } | { whole: Buffer } | undefined => {
  if (body === undefined) return undefined
  return isStream(body) ? { stream: body } : { whole: bytesOf(body) }
}

/** The whole text of a reply, however long it takes to make; empty where it has no body. */
export const wholeText = async (reply: Reply): Promise<string> => {
  const body = bodyOf(reply)
  if (!body) return ''
  if ('whole' in body) return body.whole.toString()
  const chunks: Buffer[] = []
  try {
    for await (const piece of body.stream.pieces) chunks.push(bytesOf(piece))
  } finally {
    body.stream.close?.()
  }
  return Buffer.concat(chunks).toString()
}
