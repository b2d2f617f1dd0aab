import { text } from 'node:stream/consumers'
import { ConfigError } from '../../setup/config.js'
import { readHistory, writeHistory } from '../terminal/history-file.js'
import type { Screen } from '../terminal/output.js'
import { repl } from '../terminal/repl.js'
import { withServer, type CommandConfig } from '../access/server.js'
import { untilTablesBuilt } from '../access/tables-built.js'
import { SqlSession, type Context, type Format } from '../terminal/sql-session.js'
import { splitStatements } from '../terminal/sql-text.js'

type Options = { statement: string; db: string | undefined; asOf: string | undefined; create: boolean; format: Format }

/** All statements of a text; the last one needs no semicolon. */
const statementsOf = (said: string): string[] => {
  const { statements, rest, isEmpty } = splitStatements(said)
  return isEmpty ? statements : [...statements, rest]
}

/** Runs the statements in order until one fails. */
const runAll = async (session: SqlSession, statements: readonly string[]): Promise<number> => {
  for (const statement of statements) {
    const status = await session.run(statement)
    if (status !== 0) return status
  }
  return 0
}

const talk = async (session: SqlSession): Promise<number> => {
  const history = readHistory()
  process.stdout.write('Statements end with ";". \\? for help, \\q to leave.\n')
  const ran = await repl(session, { input: process.stdin, output: process.stdout, terminal: true, history })
  if (ran.length > 0) writeHistory(ran, history)
  return 0
}

/**
 * `mindledger sql [statement]`, with `--as-of` for the state at a position or time: runs statements on the running server, or on a
 * temporary one on a free port of the loopback if no server holds the data directory. Without an argument, statements are read from
 * standard input, typed or piped.
 */
export const sql = async (config: CommandConfig, { statement, db, asOf, create, format }: Options, out: Screen): Promise<number> => {
  const isTyped = statement.trim() === '' && process.stdin.isTTY
  const statements = isTyped ? [] : statementsOf(statement.trim() === '' ? await text(process.stdin) : statement)
  if (!isTyped && statements.length === 0) throw new ConfigError('sql takes a statement: mindledger sql "SHOW TABLES"')
  const context: Context = { db: db ?? config.defaultProject, ...(asOf !== undefined && { as_of: asOf }) }
  return withServer(
    config,
    async (server) => {
      await untilTablesBuilt(server, out.progress)
      const session = new SqlSession(server, context, out, format)
      return isTyped ? talk(session) : runAll(session, statements)
    },
    { create },
  )
}
