#!/usr/bin/env node
import { constants } from 'node:os'
import { ConfigError, readConfig } from '../setup/config.js'
import { isProblem, type Problem } from '../basics/errors.js'
import { readVersion } from '../setup/version.js'
import { readArguments } from './arguments.js'
import { commands } from './commands.js'
import { usage, usageOf } from './help.js'
import { createOutput } from './terminal/output.js'
import { UsageError } from './access/usage-error.js'
import { addressOf } from './access/values.js'

/** Help is as wide as the terminal, within limits that are easy to read. */
const helpWidth = Math.min(Math.max(process.stdout.columns || 80, 60), 120)

/** Runs one command; the exit status is 0 only when all is well. */
const run = async (args: string[]): Promise<number> => {
  const asked = readArguments(args)
  if (asked.kind === 'version') createOutput().line(readVersion())
  else if (asked.kind === 'help') createOutput().line(asked.command === undefined ? usage(helpWidth) : usageOf(asked.command, helpWidth))
  if (asked.kind !== 'run') return asked.kind === 'help' && !asked.isWanted ? 2 : 0
  const { command, values, rest } = asked
  const serverUrl = values.url === undefined ? undefined : addressOf('url', values.url)
  const config = { ...readConfig(process.env), ...(serverUrl !== undefined && { serverUrl }) }
  return commands[command]?.run({ config, values, rest, out: createOutput({ quiet: values.quiet }) }) ?? 2
}

/** Errors of the operating system, such as missing permissions or a full disk. */
const ofTheSystem = new Set([
  'EACCES',
  'EPERM',
  'EROFS',
  'ENOSPC',
  'EDQUOT',
  'ENOENT',
  'ENOTDIR',
  'EISDIR',
  'ENAMETOOLONG',
  'EMFILE',
  'ENFILE',
  'EIO',
])

/** SQLite has no place for the files that it makes beside the log, even to read it. */
const needsPlace = new Set(['SQLITE_CANTOPEN', 'SQLITE_READONLY_DIRECTORY'])
const placeNeeded = '. SQLite makes files beside log.sqlite even to read it: let this user write in the directory, or read a backup'

const causeOf = ({ detail, extras: { cause } }: Problem): string => (typeof cause === 'string' ? cause : detail)

/** The message of an error that the user can fix; undefined for a fault of ours, which is shown with its stack. */
const explained = (error: unknown): string | undefined => {
  if (error instanceof ConfigError || error instanceof UsageError) return error.message
  // The operator needs the cause, which clients never see.
  if (isProblem(error) && error.code === 'storage_failed') return `the data directory cannot be used: ${causeOf(error)}`
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined
  if (!(error instanceof Error) || typeof code !== 'string') return undefined
  if (ofTheSystem.has(code)) return error.message
  if (!code.startsWith('SQLITE_')) return undefined
  return `the data directory cannot be used: ${error.message} (${code})${needsPlace.has(code) ? placeNeeded : ''}`
}

/** Errors exit with status 2, because status 1 is a result of the commands that compare; only faults of `serve` exit with 1. */
const fail = (error: unknown): number => {
  const line = explained(error)
  const said =
    line === undefined ? `a fault of mindledger: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}` : line
  process.stderr.write(`mindledger: ${said}\n`)
  return line === undefined && process.argv[2] === 'serve' ? 1 : 2
}

// A reader that has enough (`| head -1`) closes the pipe. Like other tools, the command then exits at once, without a message and
// with the status of SIGPIPE.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') process.exit(fail(error))
  process.exit(128 + constants.signals.SIGPIPE)
})

// Only the user who runs this process may read the files that it and its children write, even in a directory open to others.
process.umask(0o077)

process.on('uncaughtException', (error) => process.exit(fail(error)))

try {
  process.exitCode = await run(process.argv.slice(2))
} catch (error) {
  process.exitCode = fail(error)
}
