/** Room: what commands print, and the session of SQL. It imports only basics, setup, dialect, sql/statements and cli/access. */

import { EventEmitter, once } from 'node:events'

/** The output of a CLI command: results on stdout, progress on stderr. */
export type Output = { line: (text: string) => void; progress: (text: string) => void }

/** The same for commands that print rows. Errors go to stderr; `width` is that of the terminal, undefined without one. */
export type Screen = Output & {
  error: (text: string) => void
  width: number | undefined
  /** Copies bytes to stdout as fast as the reader takes them. */
  pass: (bytes: AsyncIterable<Uint8Array>) => Promise<void>
}

/** The output of a command: `process.stdout`, or a stand-in for it. */
export type Stream = { write: (text: string) => unknown; isTTY?: boolean; columns?: number }
type Options = { stdout?: Stream; stderr?: Stream; quiet?: boolean | undefined; now?: () => number }

/** How often progress is written when stderr is not a terminal. */
const progressEveryMs = 10_000

/**
 * Writes results line by line. Progress is one changing line on a terminal, an occasional line elsewhere, and nothing with `quiet`.
 *
 * @example const out = createOutput(); out.progress('5 of 10 events'); out.line('10 events')
 */
export const createOutput = ({
  stdout = process.stdout,
  stderr = process.stderr,
  quiet = false,
  now = () => performance.now(),
}: Options = {}): Screen => {
  let isShown = false
  let saidAt = now()
  const progressOnTerminal = (text: string): void => {
    isShown = true
    stderr.write(`\r${text}\x1b[K`)
  }
  const progressElsewhere = (text: string): void => {
    if (now() - saidAt < progressEveryMs) return
    saidAt = now()
    stderr.write(`${text}\n`)
  }
  const wipeProgress = (): void => {
    if (isShown) stderr.write('\r\x1b[K')
    isShown = false
  }
  return {
    line: (text) => {
      wipeProgress()
      stdout.write(`${text}\n`)
    },
    error: (text) => {
      wipeProgress()
      stderr.write(`${text}\n`)
    },
    pass: async (bytes) => {
      wipeProgress()
      const decoder = new TextDecoder()
      for await (const chunk of bytes)
        if (stdout.write(decoder.decode(chunk, { stream: true })) === false && stdout instanceof EventEmitter) await once(stdout, 'drain')
    },
    get width() {
      return stdout.isTTY ? stdout.columns : undefined
    },
    progress: quiet ? () => undefined : stderr.isTTY ? progressOnTerminal : progressElsewhere,
  }
}
