import { createInterface } from 'node:readline'
import { ConfigError } from '../../setup/config.js'
import type { SqlSession } from './sql-session.js'
import { splitStatements } from './sql-text.js'

type ReplSession = Pick<SqlSession, 'db' | 'format' | 'run'>
type Streams = { input: NodeJS.ReadableStream; output: NodeJS.WritableStream; terminal: boolean; history?: string[] }

const help = `Statements end with ";". They may take several lines.
  \\x  print rows on their side, or no more      \\q  leave (Ctrl-D)
  Ctrl-C drops what was typed, or leaves the statement that is waited for.
`

/** A line that is a command to this program, not a statement. */
const ownCommand = /^\s*(?:\\(?<key>[a-z?])|(?<word>exit|quit|help))\s*;?\s*$/i

/**
 * Reads statements from a terminal and runs each. Resolves when the user leaves.
 *
 * @returns the statements that were run, to be kept as history
 */
export const repl = async (session: ReplSession, { input, output, terminal, history = [] }: Streams): Promise<string[]> => {
  const lines = createInterface({ input, output, terminal, history: [...history], historySize: 1_000 })
  const ran: string[] = []
  let typed = ''
  let running: AbortController | undefined
  let isInputOver = false
  lines.once('close', () => (isInputOver = true))
  const ask = (): void => {
    const prompt = typed === '' ? `${session.db}> ` : `${' '.repeat(Math.max(0, session.db.length - 2))}...> `
    // Lines can still wait when their input has ended. Then Node 24 throws instead of a prompt.
    if (isInputOver) output.write(prompt)
    else {
      lines.setPrompt(prompt)
      lines.prompt()
    }
  }
  /** Runs a statement. Returns false if it was cancelled. */
  const run = async (statement: string): Promise<boolean> => {
    running = new AbortController()
    const { signal } = running
    try {
      await session.run(statement, signal)
    } catch (error) {
      if (signal.aborted) output.write('cancelled\n')
      else if (error instanceof ConfigError) output.write(`${error.message}\n`)
      else throw error
    } finally {
      running = undefined
    }
    return !signal.aborted
  }
  /** Clears the typed line, which Node keeps after Ctrl-C: moves to its end and deletes everything before. */
  const dropLine = (): void => {
    lines.write(null, { ctrl: true, name: 'e' })
    lines.write(null, { ctrl: true, name: 'u' })
  }
  /** Runs a command of this program. Returns false to leave. */
  const command = (key: string): boolean => {
    if (key === 'q') return false
    if (key === 'x') session.format = session.format === 'vertical' ? 'table' : 'vertical'
    else output.write(help)
    return true
  }

  lines.on('SIGINT', () => {
    running?.abort()
    typed = ''
    dropLine()
    output.write('^C\n')
    if (!running) ask()
  })
  ask()
  for await (const line of lines) {
    const own = typed === '' ? ownCommand.exec(line)?.groups : undefined
    const key = own?.['key'] ?? { exit: 'q', quit: 'q', help: '?' }[own?.['word']?.toLowerCase() ?? '']
    if (key !== undefined && !command(key)) break
    if (key === undefined) {
      typed = typed === '' ? line : `${typed}\n${line}`
      const { statements, rest, isEmpty } = splitStatements(typed)
      typed = isEmpty ? '' : rest
      for (const statement of statements) {
        ran.push(`${statement};`)
        if (!(await run(statement))) break
      }
    }
    ask()
  }
  lines.close()
  return ran
}
