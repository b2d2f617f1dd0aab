import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { encodeError, encodeFrame } from './frames.js'
import type { Frame, SelectRequest } from './query.js'

type Options = {
  /** Waits until the tables hold everything up to a position. */
  ensure: (position: number) => Promise<void>
  run: (request: SelectRequest, signal: AbortSignal) => AsyncIterable<Frame>
  /** The execution of a query begins. */
  onBegun: (query: number) => void
  /** A query has ended and holds nothing any more, however it ended. */
  onEnded: (query: number) => void
}

const readJson = async (request: IncomingMessage): Promise<unknown> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) if (Buffer.isBuffer(chunk)) chunks.push(chunk)
  return JSON.parse(Buffer.concat(chunks).toString('utf8'))
}

// The parent is the only client, and of the same release.
const parseRequest = (body: unknown): SelectRequest => body as SelectRequest

/** Writes pieces; false when the other end has to take some of it first. */
const writeAll = (response: ServerResponse, pieces: readonly Buffer[]): boolean => {
  let hasRoom = true
  for (const piece of pieces) hasRoom = response.write(piece)
  return hasRoom
}

/** How long the beginning of an answer waits for more of it: a short answer is sent in one piece. */
const gatherMs = 2

/** Holds what is written back for a moment, or until the function that comes back is called. */
const gather = (response: ServerResponse): (() => void) => {
  let isHeld = true
  const release = () => {
    if (!isHeld) return
    isHeld = false
    clearTimeout(timer)
    response.uncork()
    if (!response.writableEnded) response.flushHeaders()
  }
  const timer = setTimeout(release, gatherMs)
  response.cork()
  return release
}

/** Writes an answer as the client takes it. Its headers go out soon after execution begins: from then on the deadline runs. */
const answer = async (request: SelectRequest, response: ServerResponse, signal: AbortSignal, begin: () => void, run: Options['run']) => {
  signal.throwIfAborted()
  begin()
  response.writeHead(200, { 'content-type': 'application/octet-stream' })
  const release = gather(response)
  try {
    for await (const frame of run(request, signal)) {
      const hasRoom = writeAll(response, encodeFrame(frame))
      // What the query has to put away after its last word is not waited for.
      if ('end' in frame) response.end()
      else if (!hasRoom) {
        release()
        await once(response, 'drain', { signal })
      }
      signal.throwIfAborted()
    }
  } finally {
    release()
  }
}

const handle = async (request: IncomingMessage, response: ServerResponse, options: Options): Promise<void> => {
  const gone = new AbortController()
  response.on('close', () => {
    if (!response.writableFinished) gone.abort()
  })
  const query = Number(request.headers['x-query'])
  try {
    const body = parseRequest(await readJson(request))
    await options.ensure(body.upTo)
    if (request.url === '/query') await answer(body, response, gone.signal, () => options.onBegun(query), options.run)
  } catch (error) {
    if (!gone.signal.aborted) writeAll(response, encodeError(error))
  } finally {
    if (!response.writableEnded) response.end()
    options.onEnded(query)
  }
}

/** The server of the analytics process: `POST /query` answers a SELECT frame by frame, `POST /catch-up` when the tables are up to a position. */
export const createQueryServer = (options: Options): Server => {
  const server = createServer((request, response) => void handle(request, response, options))
  // A query waits as long as it may, and a kept connection is closed by nobody but the parent.
  server.requestTimeout = 0
  server.headersTimeout = 0
  server.keepAliveTimeout = 0
  return server
}
