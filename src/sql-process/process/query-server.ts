import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { begunFrame, decodeMessage, encodeQuestion, encodeError, encodeFrame, endedFrame, FrameCutter } from '../contract/frames.js'
import { problemOf } from '../../basics/errors.js'
import type { LineMessage } from '../contract/frames.js'
import type { AskServer, ServerAnswer } from '../../sql/contract/connected.js'
import type { Frame, SelectRequest } from '../../sql/contract/select.js'
import type { TablesStatus } from '../../sql/relations/projections.js'

/** The context of a query. */
export type RunServices = { signal: AbortSignal; tables: TablesStatus; ask: AskServer }

type Options = {
  /** The state of the tables when a query arrives. */
  arrived: (request: SelectRequest) => TablesStatus
  /** Waits until the tables hold everything up to a position. */
  ensure: (position: number) => Promise<void>
  run: (request: SelectRequest, services: RunServices) => AsyncIterable<Frame>
  /** The execution of a query begins. */
  onBegun: (query: number) => void
  /** A query has ended, with or without success, and has released everything. */
  onEnded: (query: number) => void
}

/** Writes pieces; returns false if the other end has to read some of it first. */
const writeAll = (line: Socket, pieces: readonly Buffer[]): boolean => {
  let hasRoom = true
  for (const piece of pieces) hasRoom = line.write(piece)
  return hasRoom
}

/**
 * How long the beginning of a short answer waits for the rest. A short answer is sent in one piece: a process that ends has sent all of it
 * or nothing, and in the second case the query can run again. Even a busy machine has the rest in this time.
 */
const gatherMs = 1_000

type WriteBuffer = { hold: () => void; release: () => void }

/** After `hold`, written pieces are kept and sent together: a moment later, or at `release`. After that, pieces are sent at once. */
const gathering = (line: Socket): WriteBuffer => {
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

/** Writes an answer as fast as the parent reads. The end of the answer does not wait until the query has cleaned up. */
const answer = async (frames: AsyncIterable<Frame>, line: Socket, signal: AbortSignal, { hold, release }: WriteBuffer): Promise<void> => {
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

type PendingQuestion = { resolve: (answer: ServerAnswer) => void; reject: (reason: Error) => void }

/** The questions of a line's query. One query at a time runs on a line. */
class Questions {
  readonly #waiting = new Map<number, PendingQuestion>()
  #last = 0

  constructor(private readonly line: Socket) {}

  /** Asks the parent. @throws the parent's Problem, or the reason of the signal */
  readonly ask = (signal: AbortSignal): AskServer => {
    // One listener for all questions: a statement may ask many.
    const stop = () => {
      for (const asks of this.#waiting.keys()) this.#take(asks)?.reject(signal.reason as Error)
    }
    signal.addEventListener('abort', stop, { once: true })
    return (question) =>
      new Promise((resolve, reject) => {
        signal.throwIfAborted()
        const asks = ++this.#last
        this.#waiting.set(asks, { resolve, reject })
        this.line.write(encodeQuestion({ asks, question }))
      })
  }

  hear(said: Extract<LineMessage, { to: number }>): void {
    const waiting = this.#take(said.to)
    if ('answer' in said) waiting?.resolve(said.answer)
    else waiting?.reject(problemOf(said.refused))
  }

  #take(number: number): PendingQuestion | undefined {
    const waiting = this.#waiting.get(number)
    this.#waiting.delete(number)
    return waiting
  }
}

/** Runs one query. Reports the start of its execution, when its deadline starts, and the moment when it has released everything. */
const serveQuery = async (
  { run: query, request }: Extract<LineMessage, { run: number }>,
  { line, signal, ask }: { line: Socket; signal: AbortSignal; ask: AskServer },
  options: Options,
): Promise<void> => {
  const gathered = gathering(line)
  try {
    const tables = options.arrived(request)
    // A cancelled query gives its line back, even while the tables are far behind.
    await Promise.race([options.ensure(request.upTo), once(signal, 'abort')])
    signal.throwIfAborted()
    options.onBegun(query)
    line.write(begunFrame)
    await answer(options.run(request, { signal, tables, ask }), line, signal, gathered)
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
  const questions = new Questions(line)
  let running: { query: number; gone: AbortController } | undefined
  line.on('data', (chunk) => {
    for (const raw of cutter.push(chunk)) {
      const said = decodeMessage(raw)
      if ('run' in said) {
        const gone = new AbortController()
        running = { query: said.run, gone }
        void serveQuery(said, { line, signal: gone.signal, ask: questions.ask(gone.signal) }, options)
      } else if ('to' in said) questions.hear(said)
      else if (said.cancel === running?.query) running.gone.abort()
    }
  })
  line.on('error', () => undefined)
  line.on('close', () => running?.gone.abort())
}

/** The server of the SQL process: answers SELECTs on its parent's lines, frame by frame. */
export const createQueryServer = (options: Options): Server => createServer((line) => serveLine(line, options))
