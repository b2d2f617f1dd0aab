/** Where a command of the CLI speaks: results to stdout, progress to stderr when that is a terminal. */
export type Output = { line: (text: string) => void; progress: (text: string) => void }

export const terminal: Output = {
  line: (text) => void process.stdout.write(`${text}\n`),
  progress: (text) => {
    if (process.stderr.isTTY) process.stderr.write(`\r${text}\x1b[K`)
  },
}
