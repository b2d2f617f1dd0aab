/** Where a command of the CLI speaks: results to stdout, progress to stderr. */
export type Output = { line: (text: string) => void; progress: (text: string) => void }

type Stream = { write: (text: string) => unknown; isTTY?: boolean }
type Options = { stdout?: Stream; stderr?: Stream; quiet?: boolean | undefined; now?: () => number }

/** Where nobody watches, a sign of life so often is enough. */
const progressEveryMs = 10_000

/**
 * Writes results line by line. Progress is one line that changes on a terminal, a line now and then elsewhere, and nothing
 * with `quiet`.
 *
 * @example const out = createOutput(); out.progress('5 of 10 events'); out.line('10 events')
 */
export const createOutput = ({
  stdout = process.stdout,
  stderr = process.stderr,
  quiet = false,
  now = () => performance.now(),
}: Options = {}): Output => {
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
  return {
    line: (text) => {
      if (isShown) stderr.write('\r\x1b[K')
      isShown = false
      stdout.write(`${text}\n`)
    },
    progress: quiet ? () => undefined : stderr.isTTY ? progressOnTerminal : progressElsewhere,
  }
}
