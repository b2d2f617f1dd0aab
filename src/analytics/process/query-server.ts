import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { begunFrame, decodeSaid, encodeError, encodeFrame, endedFrame, FrameCutter } from '../contract/frames.js'
import type { Frame, SelectRequest } from '../../sql/contract/select.js'
import type { TablesStatus } from '../../sql/relations/projections.js'

type Options = {
  /** How the tables stand when a query arrives. */
  arrived: (request: SelectRequest) => TablesStatus
  /** Waits until the tables hold everything up to a position. */
  ensure: (position: number) => Promise<void>
  run: (request: SelectRequest, signal: AbortSignal, tables: TablesStatus) => AsyncIterable<Frame>
  /** The execution of a query begins. */
  onBegun: (query: number) => void
  /** A query has ended and holds nothing any more, however it ended. */
  onEnded: (query: number) => void
}

/** Writes pieces; false when the other end has to take some of it first. */
const writeAll = (line: Socket, pieces: readonly Buffer[]): boolean => {
  let hasRoom = true
  for (const piece of pieces) hasRoom = line.write(piece)
  return hasRoom
}

/**
 * How long the beginning of a short answer waits for the rest. A short answer is sent in one piece: a process that is lost has sent
 * all of it or nothing, and in the second case the query can be tried again. Even a busy machine has the rest by then.
 */
const gatherMs = 1_000

type Gathering = { hold: () => void; release: () => void }

/** After `hold`, what is written is kept and sent together: a moment later, or at `release`. After that nothing is kept any more. */
const gathering = (line: Socket): Gathering => {
  let timer: NodeJS.Timeout | undefined
  let isOver = false
  const release = () => {
    if (isOver) return
    isOver = true
    if (!timer) return
    clearTimeout(timer)
    line.uncork()
  }
  const hold = () => {
    if (timer || isOver) return
    line.cork()
    timer = setTimeout(release, gatherMs)
  }
  return { hold, release }
}

/** Writes an answer as the parent takes it. The end of the answer does not wait until the query has cleaned up. */
const answer = async (frames: AsyncIterable<Frame>, line: Socket, signal: AbortSignal, { hold, release }: Gathering): Promise<void> => {
  for await (const frame of frames) {
    hold()
    const hasRoom = writeAll(line, encodeFrame(frame))
    if ('end' in frame) setImmediate(release)
    else if (!hasRoom) {
      release()
      await once(line, 'drain', { signal })
    }
    signal.throwIfAborted()
  }
}

/** Runs one query. Tells when its execution begins, at which its deadline begins to run, and when it holds nothing any more. */
const serveQuery = async (query: number, request: SelectRequest, line: Socket, signal: AbortSignal, options: Options): Promise<void> => {
  const gathered = gathering(line)
  try {
    const tables = options.arrived(request)
    // A query that is cancelled gives its line back, even while the tables are far behind.
    await Promise.race([options.ensure(request.upTo), once(signal, 'abort')])
    signal.throwIfAborted()
    options.onBegun(query)
    line.write(begunFrame)
    await answer(options.run(request, signal, tables), line, signal, gathered)
  } catch (error) {
    gathered.hold()
    if (!signal.aborted) line.write(encodeError(error))
  } finally {
    line.write(endedFrame)
    gathered.release()
    options.onEnded(query)
  }
}

/** Serves a line of the parent, which sends one query at a time and may cancel it. */
const serveLine = (line: Socket, options: Options): void => {
  const cutter = new FrameCutter()
  let running: { query: number; gone: AbortController } | undefined
  line.on('data', (chunk) => {
    for (const raw of cutter.push(chunk)) {
      const said = decodeSaid(raw)
      if ('run' in said) {
        const gone = new AbortController()
        running = { query: said.run, gone }
        void serveQuery(said.run, said.request, line, gone.signal, options)
      } else if (said.cancel === running?.query) running.gone.abort()
    }
  })
  line.on('error', () => undefined)
  line.on('close', () => running?.gone.abort())
}

/** The server of the analytics process: answers SELECTs on its parent's lines, frame by frame. */
export const createQueryServer = (options: Options): Server => createServer((line) => serveLine(line, options))
