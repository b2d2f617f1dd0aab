import { readFileSync } from 'node:fs'
import { basename } from 'node:path'

const holder = /Conflicting lock is held in .*\(PID (\d+)\)/

/**
 * A reason as everybody may read it, without the program, the id and the user of a process that holds the tables.
 *
 * @example withoutHolder('Conflicting lock is held in /usr/bin/node (PID 4711) by user ann') // 'another process holds it; …'
 */
export const withoutHolder = (reason: string): string =>
  reason.replace(/Conflicting lock is held in [^]*/, 'another process holds it; the log of the service names that process')

/**
 * Ends an old SQL process that still locks the tables. A killed server can leave such a process behind, if the process was stopped and so
 * did not notice the end of its server. This server holds the lock of the data directory, so no other SQL process there has a server.
 * Returns the id of the ended process.
 *
 * @example endOrphan('Conflicting lock is held in /usr/bin/node (PID 4711)', '/app/sql-process.js') // 4711
 */
export const endOrphan = (reason: string, entry: string): number | undefined => {
  const pid = Number(holder.exec(reason)?.[1] ?? 0)
  if (pid <= 1 || pid === process.pid) return undefined
  try {
    // Only Linux allows this check; on other systems the reason names the process, and a person ends it.
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
    if (!command.some((word) => basename(word) === basename(entry))) return undefined
    process.kill(pid, 'SIGKILL')
    return pid
  } catch {
    return undefined
  }
}
