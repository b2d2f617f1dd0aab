#!/usr/bin/env node
/**
 * Room: the command `mindledger` as users start it. It imports only basics, setup, dialect, files/shared, cli/access, cli/terminal and
 * cli/commands.
 */

import { constants } from 'node:os'
import { fail, runCommand } from './run-command.js'

const args = process.argv.slice(2)

// A reader that has enough (`| head -1`) closes the pipe. Like other tools, the command then exits at once, without a message and
// with the status of SIGPIPE.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') process.exit(fail(error, args, process))
  process.exit(128 + constants.signals.SIGPIPE)
})

// Only the user who runs this process may read the files that it and its children write, even in a directory open to others.
process.umask(0o077)

process.on('uncaughtException', (error) => process.exit(fail(error, args, process)))

process.exitCode = await runCommand(args, process)
