import type { Call } from '../http/protocol/call.js'
import { stream, type Headers as ReplyHeaders, type Piece, type Reply } from '../http/protocol/reply.js'

/** Headers with which the protocol describes a message. */
const passed = ['content-type', 'accept', 'mcp-protocol-version', 'mcp-method', 'mcp-name', 'mcp-session-id']

/** A call in the form for the protocol's library. Its body has been read, with the limits of every other body. */
export const requestOf = (call: Call, signal: AbortSignal): Request => {
  const headers = new Headers()
  for (const name of passed) {
    const value = call.header(name)
    if (value !== undefined) headers.set(name, value)
  }
  return new Request('http://localhost/mcp', { method: 'POST', headers, signal })
}

/** Headers of the library's responses that the service passes to clients. */
const given = ['allow', 'cache-control']

const headersOf = (response: Response): ReplyHeaders => {
  const headers: Record<string, string> = {}
  for (const name of given) {
    const value = response.headers.get(name)
    if (value !== null) headers[name] = value
  }
  return headers
}

async function* piecesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Piece, void, void> {
  for await (const piece of body) yield Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
}

/** The library's response as a reply. `ends` aborts when the client's login ends. */
export const replyOf = async (response: Response, ends: AbortSignal | undefined): Promise<Reply> => {
  const { status, body } = response
  const type = response.headers.get('content-type') ?? undefined
  const headers = headersOf(response)
  if (body === null) return { status, headers }
  if (type?.startsWith('text/event-stream') !== true)
    return { status, headers, ...(type !== undefined && { type }), body: await response.text() }
  const close = () => {
    // The client left before the first piece, so nobody reads the rest.
    if (!body.locked) void body.cancel().catch(() => undefined)
  }
  return stream(type, { pieces: piecesOf(body), close, ...(ends && { ends }) }, { status, headers })
}
